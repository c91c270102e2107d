//! What nodes send each other in a round: for each window of an aggregator one member of every
//! other node, its *agent*, speaks for all members there.

use catena_abi as abi;
use catena_objects::error::Result;

use crate::collective::rounds::Rounds;

/// What a message is: bytes that are written, what is wanted, bytes that were read.
const PARCEL: i32 = 1;
const LIST: i32 = 2;
const ANSWER: i32 = 3;

impl Rounds {
    /// The windows of other nodes' aggregators for which this member speaks.
    fn errands(&self) -> Vec<usize> {
        let seat = &self.seat;
        let is_own = |&(window, owner): &(usize, &u32)| {
            seat.nodes.of(*owner) != seat.node && seat.nodes.agent(seat.node, window) == seat.rank
        };
        let all = seat.owners.iter().enumerate();
        all.filter(is_own).map(|(window, _)| window).collect()
    }

    /// Begins to send bytes, of which the other end learns the number first.
    fn post(&self, to: u32, tag: i32, bytes: Vec<u8>, left: &mut Vec<abi::Request>) {
        let head = (bytes.len() as u64).to_le_bytes().to_vec();
        self.counters
            .add(|it| &it.sent, (bytes.len() + head.len()) as u64);
        left.push(self.crew.send(to, tag, head));
        if !bytes.is_empty() {
            left.push(self.crew.send(to, tag, bytes));
        }
    }

    /// Receives what was sent so.
    async fn take(&self, from: u32, tag: i32) -> Result<Vec<u8>> {
        let mut head = Box::new([0; 8]);
        self.crew.receive(from, tag, &mut *head).await?;
        // A window, its mask and a head at most; what is longer is cut, and then refused.
        let most = self.plan.window + self.plan.window / 8 + 8;
        let len = usize::try_from(u64::from_le_bytes(*head)).unwrap_or(most);
        let mut bytes = vec![0; len.min(most)];
        if !bytes.is_empty() {
            let there = self.crew.receive(from, tag, &mut bytes).await?;
            bytes.truncate(there);
        }
        Ok(bytes)
    }

    /// What was sent has left.
    async fn sent(&self, left: Vec<abi::Request>) -> Result<()> {
        let mut result = Ok(());
        for request in left {
            result = result.and(self.crew.sent(request).await);
        }
        result
    }

    /// What members have put into windows of other nodes' aggregators goes there; this aggregator
    /// takes in what comes.
    pub(super) async fn collect(&mut self, set: usize) -> Result<()> {
        let mut left = Vec::new();
        for window in self.errands() {
            self.unite(set, window);
            // SAFETY: members have met, and do not write there before they meet again.
            let parcel = unsafe { self.window(set, window).parcel() };
            self.post(self.seat.owners[window], PARCEL, parcel, &mut left);
        }
        let came = self.take_parcels(set).await;
        let sent = self.sent(left).await;
        came.and(sent)
    }

    /// This aggregator takes in what comes from other nodes.
    async fn take_parcels(&mut self, set: usize) -> Result<()> {
        let Some(mine) = self.seat.mine else {
            return Ok(());
        };
        let nodes = self.seat.nodes.clone();
        for node in nodes.others(self.seat.node) {
            let parcel = self.take(nodes.agent(node, mine), PARCEL).await?;
            // SAFETY: members have met, and this aggregator alone works on its window now.
            let taken = unsafe { self.window(set, mine).take_in(&parcel) };
            self.note(taken);
        }
        Ok(())
    }

    /// What members want of windows of other nodes' aggregators comes from there; this aggregator
    /// answers who wants something of its own.
    pub(super) async fn distribute(&mut self, set: usize) -> Result<()> {
        let mut left = Vec::new();
        let errands = self.errands();
        for &window in &errands {
            self.unite(set, window);
            // SAFETY: members have met, and do not write their masks before they meet again.
            let list = unsafe { self.window(set, window).list() };
            self.post(self.seat.owners[window], LIST, list, &mut left);
        }
        let came = self.answer_and_fill(set, errands, &mut left).await;
        let sent = self.sent(left).await;
        came.and(sent)
    }

    /// This aggregator answers what others want of its window, and then `windows` are filled from
    /// elsewhere. What leaves is added to `left`.
    async fn answer_and_fill(
        &mut self,
        set: usize,
        windows: Vec<usize>,
        left: &mut Vec<abi::Request>,
    ) -> Result<()> {
        if let Some(mine) = self.seat.mine {
            let nodes = self.seat.nodes.clone();
            for node in nodes.others(self.seat.node) {
                let agent = nodes.agent(node, mine);
                let list = self.take(agent, LIST).await?;
                // SAFETY: the window has been read, and nobody writes it in this round.
                let answer = unsafe { self.window(set, mine).answer(&list) };
                let bytes = answer.as_ref().map_or(Vec::new(), Vec::clone);
                self.note(answer.map(drop));
                self.post(agent, ANSWER, bytes, left);
            }
        }
        for window in windows {
            let bytes = self.take(self.seat.owners[window], ANSWER).await?;
            // SAFETY: no member looks at the window before all meet, and the mask is as it was
            // sent.
            let filled = unsafe { self.window(set, window).fill(&bytes) };
            self.note(filled);
        }
        Ok(())
    }
}
