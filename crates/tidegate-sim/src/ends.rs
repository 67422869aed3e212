//! What is asked of the ends of a flow, whether they are our TCP's or hosts.

use tidegate_core::tcp::Counters;
use tidegate_result::Side;

use crate::flow::Flow;
use crate::history::{ReceiverColumns, SenderColumns};
use crate::hosted::{Hosted, counted};

impl Flow {
    /// What an end has counted.
    pub(crate) fn counters(&self, side: Side) -> &Counters {
        let end = if side == Side::Sender { &self.sender } else { &self.receiver };
        counted(&self.hosted, side, end)
    }

    /// The hosts of a flow that has hosts.
    pub(crate) fn hosted_mut(&mut self) -> &mut Hosted {
        self.hosted.as_mut().expect("who asks has looked whether the flow has hosts")
    }

    /// What rows show of its sender.
    pub(crate) fn sender_columns(&self) -> SenderColumns {
        match &self.hosted {
            Some(hosted) => SenderColumns::from(hosted.report(Side::Sender)),
            None => SenderColumns::from(&self.sender.shown()),
        }
    }

    /// What rows show of its receiver.
    pub(crate) fn receiver_columns(&self) -> ReceiverColumns {
        match &self.hosted {
            Some(hosted) => ReceiverColumns::from(hosted.report(Side::Receiver)),
            None => ReceiverColumns::from(&self.receiver),
        }
    }

    /// It passes a policer.
    pub(crate) fn is_policed(&self) -> bool {
        self.policed.is_some() || self.hosted.as_ref().is_some_and(|hosted| hosted.is_policed())
    }

    /// Whether a policer is why the congestion window is small.
    pub(crate) fn is_held_by_policer(&self) -> bool {
        match &self.hosted {
            Some(hosted) => hosted.is_held_by_policer(),
            None => self.policed.as_ref().is_some_and(|policed| policed.holds(&self.sender)),
        }
    }
}
