//! Graphs and tables in files, and graphs on the terminal.
//!
//! | module  | what it does                                                       |
//! |---------|--------------------------------------------------------------------|
//! | `data`  | results as data: JSON, CSV, and what the page shows                |
//! | `html`  | one page that needs nothing else                                   |
//! | `chart` | from results to lines and words at places                          |
//! | `svg`   | those as SVG; `png` has another program make a picture of it       |
//! | `pdf`   | those as PDF                                                       |
//! | `tty`   | charts made of letters                                             |

mod chart;
mod data;
mod html;
mod pdf;
mod png;
mod svg;
mod tty;

use std::fs;
use std::path::Path;

pub use data::Results;

use crate::show;

/// A kind of graph or table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Graph {
    /// Drawn on the terminal.
    Tty,
    /// A page with everything.
    Html,
    /// Drawings alone.
    Svg,
    /// A drawing as a PDF.
    Pdf,
    /// A drawing as pixels, by a program that makes them of SVG.
    Png,
    /// A table of what each variant reaches.
    Csv,
    /// All results as data.
    Json,
}

impl Graph {
    /// By its name.
    ///
    /// # Errors
    /// In words.
    pub fn parse(name: &str) -> Result<Graph, String> {
        Ok(match name {
            "tty" => Graph::Tty,
            "html" => Graph::Html,
            "svg" => Graph::Svg,
            "pdf" => Graph::Pdf,
            "png" => Graph::Png,
            "csv" => Graph::Csv,
            "json" => Graph::Json,
            _ => {
                return Err(format!(
                    "there is no {name}: write tty, html, svg, pdf, png, csv or json"
                ));
            }
        })
    }

    /// Shows the results, or writes them into a file beside the raw data and says its name.
    ///
    /// # Errors
    /// In words, if the file cannot be written.
    pub fn make(self, results: &Results, raw: &Path) -> Result<(), String> {
        let (ending, content) = match self {
            Graph::Tty => {
                show::say(tty::draw(&chart::charts(results)));
                return Ok(());
            }
            Graph::Png => {
                let charts = chart::charts(results);
                for (path, drawing) in png::pictures(raw, &charts) {
                    png::write(&drawing, &path, &png::PROGRAMS)?;
                    show::say(format_args!("png: {}\n", path.display()));
                }
                return Ok(());
            }
            Graph::Html => ("html", html::page(results)?.into_bytes()),
            Graph::Svg => ("svg", svg::draw(&chart::charts(results)).into_bytes()),
            Graph::Pdf => ("pdf", pdf::draw(&chart::charts(results), &results.title())),
            Graph::Csv => ("csv", results.csv().into_bytes()),
            Graph::Json => ("json", results.json()?.into_bytes()),
        };
        let path = raw.with_extension(ending);
        fs::write(&path, content)
            .map_err(|e| format!("{} cannot be written: {e}", path.display()))?;
        show::say(format_args!("{ending}: {}\n", path.display()));
        Ok(())
    }
}
