//! Processes that nobody started together: each is alone in its job, and adds others by what they
//! tell of themselves, at any time. There is no launcher, no rank and no fence.
//!
//! What a process tells is its address record (see [`record`](crate::record)); how it comes to the
//! others is theirs to say. Through shared memory each process has a segment of its own, which
//! those on its host open at the descriptor that the record names, if they belong to the same user
//! and see the same process numbers. All others are reached over networks: TCP, or a library's
//! ([`catena_fabric::introduction`] says what the ends prove to each other there, and what not).

use catena_fabric::{Peer, PeerLost};
use catena_proof::Secret;

use crate::alone::{Alone, ME, Neighbour, Opened};
use crate::chain::Chain;
use crate::peer_table::PeerTable;
use crate::record::{Address, Record};
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

    /// As [`Routes::address`], without what only messages need: about 50 bytes with shared memory
    /// and one network that has an address of 16.
    pub fn short_address(&self) -> Option<Vec<u8>> {
        self.alone.as_ref()?.record.encode_short()
    }

    /// Adds a process by what it tells of itself, [`Routes::address`] or
    /// [`Routes::short_address`]; the number that it has here
    /// from now on, until it is [removed](Routes::remove_peer). It may have been added before, or
    /// be this process. The two are to add each other, in any order: what one sends before the
    /// other has added it waits.
    ///
    /// # Errors
    /// Why it cannot be reached.
    pub fn add_peer(&mut self, address: &[u8]) -> Result<Peer, String> {
        let theirs = Record::decode(address);
        let theirs = theirs.ok_or("what it tells is damaged, or of another version of Catena")?;
        self.release_numbers();
        let (Some(alone), Some(at)) = (&self.alone, &theirs.address) else {
            return Err("only processes of no job add each other".to_string());
        };
        let name = at.name;
        if let Some(known) = self.peers.peer(name) {
            return Ok(known);
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
                        "it does not share memory with this process, which has no network: it is \
                         on {}",
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
            let added = networks.add_peer(peer, &theirs, (name, leads));
            self.set_route(peer, Route::Network);
            if let Err(error) = added {
                // It was not added: what it tells next may be of more use.
                self.remove_peer(peer)?;
                return Err(error);
            }
        }
        Ok(peer)
    }

    /// Adds the processes that have called, though nobody has told this process of them: over a
    /// network, those that know the secret, as long as the connection by which they have called
    /// lasts; through shared memory, those of its user. It can receive from them, and answer. A
    /// program that has to know its peers does not call this. One that is
    /// [added](Routes::add_peer) later has the number that it got here. Cost: small if nobody has
    /// called.
    pub fn add_callers(&mut self) -> Vec<Peer> {
        let mut added = self.add_near_callers();
        let Some(networks) = self.networks.as_ref().filter(|_| self.alone.is_some()) else {
            return added;
        };
        let callers: Vec<_> = networks.callers().collect();
        for (number, name) in callers {
            if name.rank != 0 || self.peers.peer(name).is_some() {
                continue;
            }
            let node = self.peers.len() as u32;
            if self.add_job(name.job, &[node], None, None).is_err() {
                continue;
            }
            let peer = self.peers.peer(name).expect("it was just added");
            let done = self
                .networks
                .as_mut()
                .map(|it| it.add_caller(peer, number, name));
            if matches!(done, Some(Ok(()))) {
                self.set_route(peer, Route::Network);
                added.push(peer);
            }
        }
        added
    }

    /// Adds the neighbours that have called.
    fn add_near_callers(&mut self) -> Vec<Peer> {
        let (Some(alone), Some(shm)) = (&self.alone, &self.shm) else {
            return Vec::new();
        };
        let callers = shm.callers().filter(|it| !alone.refused.contains(&it.0));
        let callers: Vec<_> = callers.map(|it| alone.caller(it)).collect();
        let add = |at: Address| {
            let Some(Ok(Neighbour { segment, ending })) = self.alone.as_ref()?.neighbour(&at)
            else {
                self.alone.as_mut()?.refused.insert(at.name.job);
                return None;
            };
            self.add_job(at.name.job, &[0], Some(segment), None).ok()?;
            let peer = self.peers.peer(at.name)?;
            self.alone.as_mut()?.added(peer, &at, ending);
            Some(peer)
        };
        callers.into_iter().filter_map(add).collect()
    }

    /// Removes a process that was [added](Routes::add_peer), whether it is lost or not. To be
    /// called when the endpoint has [removed it](catena_link::Endpoint::remove_peer), and between
    /// two polls.
    ///
    /// * **What is under way to it ends with an error**, which a later poll tells: nobody waits for
    ///   an answer of a process that may never give one. Who wants all to arrive waits for its
    ///   requests before, and for an answer of the other end's own: as with a connection that is
    ///   closed, what has left this process arrives, and what waits here may not. Memory that is
    ///   lent to an operation is in use until its end is told.
    /// * **The other end** is told as of one that ends in good order
    ///   ([`Deliver::left`](catena_fabric::Deliver::left)), once it has received what had left for
    ///   it, if it had added this process: requests with this one then fail there. It need not poll
    ///   for this call to be over, nor live.
    /// * **Its number** is given to whoever is added next when nothing is under way to it any more;
    ///   so nobody is to use it after this call. Through shared memory the other one's segment is
    ///   unmapped before this call returns, and with it all that was [mapped](Routes::map) of it.
    /// * **It can be added again**, once each of the two has removed the other one, in any order:
    ///   with the same address, as after the first time. Messages that were sent before are not
    ///   received after.
    ///
    /// Keys of memory that it was told stay good as long as the memory is
    /// [exposed](Routes::expose).
    ///
    /// # Errors
    /// If it was not added.
    ///
    /// # Examples
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
    /// let two = Routes::<Message, Message>::alone(&chain, None)?;
    /// let there = one.add_peer(&two.address().expect("it is alone"))?;
    /// one.remove_peer(there)?;
    /// assert_eq!(one.route(there), Route::None);
    /// assert_eq!(one.add_peer(&two.address().expect("it is alone"))?, there);
    /// # Ok::<(), String>(())
    /// ```
    pub fn remove_peer(&mut self, peer: Peer) -> Result<(), String> {
        let name = self.peers.name(peer).filter(|_| peer != ME);
        let (Some(name), Some(alone)) = (name, &mut self.alone) else {
            return Err("only a process that was added is removed".to_string());
        };
        let has_let_go = match (self.table[peer.0 as usize], &mut self.networks) {
            (Route::Network, Some(networks)) => {
                networks.remove_peer(peer);
                networks.has_let_go(peer)
            }
            _ => true,
        };
        alone.removed(peer, name.job);
        if let Some(shm) = &mut self.shm {
            shm.remove_other(name.job);
        }
        self.failures.forget_job(name.job);
        self.table[peer.0 as usize] = Route::None;
        match has_let_go {
            true => _ = self.peers.remove(name.job),
            false => {
                self.peers.hold(name.job);
                alone.held.push(peer);
            }
        }
        Ok(())
    }

    /// The numbers of peers that were removed are for others, where nothing is under way any more.
    fn release_numbers(&mut self) {
        let Some(alone) = &mut self.alone else {
            return;
        };
        if let Some(shm) = &mut self.shm {
            alone.forget_ended(shm);
        }
        let networks = self.networks.as_ref();
        let has_let_go = |it: &mut Peer| networks.is_none_or(|all| all.has_let_go(*it));
        for peer in alone.held.extract_if(.., has_let_go) {
            self.peers.release(peer);
        }
    }

    /// The neighbours that have ended since this was last asked, once all that they had sent was
    /// polled; the endpoint is to be told ([`peer_ended`](catena_link::Endpoint::peer_ended)). Of
    /// those that are reached over networks the network tells, once there is a connection: one that
    /// has ended before that is found out by a send. To be asked now and then by those who wait;
    /// costs a system call if there are neighbours.
    pub fn ended_neighbours(&mut self) -> Vec<PeerLost> {
        let (Some(alone), Some(shm)) = (&mut self.alone, &mut self.shm) else {
            return Vec::new();
        };
        alone.forget_ended(shm);
        let ended = alone.ended_neighbours(shm);
        for PeerLost { peer, cause } in &ended {
            self.mark_lost(*peer, cause);
        }
        ended
    }
}
