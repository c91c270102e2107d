//! Processes that nobody started together: each is alone in its job, and adds others by what they
//! tell of themselves, at any time. There is no launcher, no rank and no fence.
//!
//! What a process tells is its address record (see [`record`](crate::record)); how it comes to the
//! others is theirs to say. Through shared memory each process has a segment of its own, which
//! those on its host open at the descriptor that the record names, if they belong to the same user
//! and see the same process numbers. All others are reached over networks.

use catena_fabric::{Peer, PeerLost};
use catena_proof::Secret;

use crate::alone::{Alone, ME, Opened};
use crate::chain::Chain;
use crate::peer_table::PeerTable;
use crate::record::Record;
use crate::routes::{Route, Routes};

impl<S, R> Routes<S, R> {
    /// The routes of a process that is in no job with others: as the transports of `chain` lead, to
    /// those that it [adds](Routes::add_peer). Over networks it talks only with processes that know
    /// the same `secret`; through shared memory, only with those of the same user.
    ///
    /// # Errors
    /// What failed and what to do.
    ///
    /// # Examples
    /// Two processes, played by one, meet through shared memory:
    /// ```
    /// use catena_net::{Chain, Route, Routes};
    ///
    /// # use catena_base::PeerBytes;
    /// # #[derive(Debug)]
    /// # enum Message {}
    /// # impl catena_link::Source for Message {
    /// #     type Part<'a> = &'a [u8];
    /// #     fn len(&self) -> u64 { match *self {} }
    /// #     fn part(&self, _: u64, _: usize) -> &[u8] { match *self {} }
    /// # }
    /// # impl catena_link::Sink for Message {
    /// #     fn capacity(&self) -> u64 { match *self {} }
    /// #     fn place(&mut self, _: u64, _: PeerBytes<'_>) { match *self {} }
    /// # }
    /// let chain = Chain::parse("shm")?;
    /// let mut one = Routes::<Message, Message>::alone(&chain, None)?;
    /// let mut two = Routes::<Message, Message>::alone(&chain, None)?;
    /// let there = one.add_peer(&two.address().expect("it is alone"))?;
    /// assert_eq!(one.route(there), Route::Shm);
    /// two.add_peer(&one.address().expect("it is alone"))?;
    /// # Ok::<(), String>(())
    /// ```
    pub fn alone(chain: &Chain, secret: Option<&Secret>) -> Result<Self, String> {
        let Opened {
            alone,
            shm,
            networks,
        } = Alone::open(chain, secret)?;
        let peers = PeerTable::new(alone.address.name.job, [0]);
        let mut routes = Routes::new(ME, peers, &[ME], shm, networks);
        routes.alone = Some(Box::new(alone));
        Ok(routes)
    }

    /// What others are to be told of this process, so that they can [add](Routes::add_peer) it;
    /// `None` if it is one of a job. A few hundred bytes. Whoever has them can reach nothing
    /// without the secret, or this process's user.
    pub fn address(&self) -> Option<Vec<u8>> {
        self.alone.as_ref()?.record.encode()
    }

    /// Adds a process by what it tells of itself, [`Routes::address`]; the number that it has here
    /// from now on. It may have been added before, or be this process. The two are to add each
    /// other, in any order: what one sends before the other has added it waits.
    ///
    /// # Errors
    /// Why it cannot be reached.
    pub fn add_peer(&mut self, address: &[u8]) -> Result<Peer, String> {
        let theirs = Record::decode(address);
        let theirs = theirs.ok_or("what it tells is damaged, or of another version of Catena")?;
        let (Some(alone), Some(at)) = (&self.alone, &theirs.address) else {
            return Err("only processes of no job add each other".to_string());
        };
        let name = at.name;
        if let Some(known) = self.peers.peer(name) {
            return match self.route(known) {
                Route::None => Err("it could not be reached when it was added".to_string()),
                _ => Ok(known),
            };
        }
        if name.rank != 0 {
            return Err("what it tells is damaged".to_string());
        }
        let leads = alone.address.name < name;
        let (segment, ending) = match alone.neighbour(at).transpose()? {
            Some(it) => (Some(it.segment), it.ending),
            None => (None, None),
        };
        let is_near = segment.is_some();
        let node = if is_near { 0 } else { self.peers.len() as u32 };
        // Whether it can be reached is asked before it gets a number.
        if !is_near {
            match self.networks.as_ref() {
                Some(networks) => networks.joins(&theirs, leads)?,
                None => {
                    return Err(format!(
                        "it does not share memory with this process, which has no network: it is on {}",
                        at.host
                    ));
                }
            }
        }
        let added = self.add_job(name.job, &[node], segment, None);
        added.map_err(|error| error.to_string())?;
        let peer = self.peers.peer(name).expect("it was just added");
        if let Some(alone) = &mut self.alone {
            alone.added(peer, at, ending);
        }
        if !is_near && let Some(networks) = &mut self.networks {
            networks.add_peer(peer, &theirs, (name, leads))?;
            self.set_route(peer, Route::Network);
        }
        Ok(peer)
    }

    /// The neighbours that have ended since this was last asked, once all that they had sent was
    /// polled; the endpoint is to be told ([`peer_ended`](catena_link::Endpoint::peer_ended)). Of
    /// those that are reached over networks the network tells, once there is a connection: one that
    /// has ended before that is found out by a send. To be asked now and then by those who wait;
    /// costs a system call if there are neighbours.
    pub fn ended_neighbours(&mut self) -> Vec<PeerLost> {
        let (Some(alone), Some(shm)) = (&mut self.alone, &self.shm) else {
            return Vec::new();
        };
        let ended = alone.ended_neighbours(shm);
        for PeerLost { peer, cause } in &ended {
            self.mark_lost(*peer, cause);
        }
        ended
    }
}
