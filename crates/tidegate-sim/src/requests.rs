//! Requests in the simulator: what clients and servers do when, and connections that begin anew.

use tidegate_core::app::Server;
use tidegate_core::net::Carrier;
use tidegate_core::units::Time;
use tidegate_result::Side;

use crate::flow::Flow;
use crate::wire::Wire;

impl<N: Carrier> Wire<N> {
    /// A client's user asks, or a request that waited may begin.
    pub(crate) fn wake_client(&mut self, at: Time, index: usize, flow: &mut Flow) {
        let Some(dialogue) = &mut flow.dialogue else { return };
        // With run-ahead, the client may already have acted, and be due later.
        if at < dialogue.due {
            return self.network.set_alarm(self.alarms.application(index), dialogue.due);
        }
        dialogue.client.handle_wakeup(at);
        if !flow.started {
            flow.started = true;
            if !dialogue.begins_anew() {
                self.open(at, index, flow);
            }
        }
        while let Some(begin) = flow.dialogue.as_mut().and_then(|open| open.client.poll_begin(at)) {
            if begin.anew {
                self.open(at, index, flow);
            }
            flow.before_receiver(at);
            flow.receiver.write(at, begin.bytes);
        }
        self.wake_receiver(at, index, flow);
        self.set_client_alarm(at, index, flow);
    }

    /// Opens a connection: the first, or one that takes the place of the one before.
    fn open(&mut self, at: Time, index: usize, flow: &mut Flow) {
        flow.before_sender(at);
        flow.before_receiver(at);
        if flow.dialogue.as_mut().is_some_and(|dialogue| std::mem::replace(&mut dialogue.opened, true)) {
            flow.reconnect();
        }
        flow.sender.open(at);
        flow.receiver.open(at);
        self.pump_sender(at, index, flow);
    }

    /// The client acts, where it is due before `at`; the receiver's timers come first.
    #[inline(never)]
    pub(crate) fn wake_client_before(&mut self, at: Time, index: usize, flow: &mut Flow) {
        while let Some(due) = flow.dialogue.as_ref().map(|dialogue| dialogue.due).filter(|due| *due < at) {
            let timer = flow.receiver.next_wakeup();
            if timer <= due {
                self.wake_receiver(timer, index, flow);
            } else {
                self.wake_client(due, index, flow);
            }
        }
    }

    fn set_client_alarm(&mut self, at: Time, index: usize, flow: &mut Flow) {
        if let Some(dialogue) = &mut flow.dialogue {
            dialogue.due = if dialogue.client.may_begin() { at } else { dialogue.client.next_wakeup() };
            self.network.set_alarm(self.alarms.application(index), dialogue.due);
        }
    }

    /// Data came to the server's end of a flow.
    #[inline(never)]
    pub(crate) fn take_requests(&mut self, at: Time, index: usize, flow: &mut Flow) {
        let in_order = flow.sender.in_order_bytes();
        let Some(dialogue) = &mut flow.dialogue else { return };
        while let Some(bytes) = dialogue.client.poll_arrived(at, in_order) {
            match dialogue.server {
                Some(number) => self.bring_to_server(at, number, index, bytes),
                None => flow.sender.write(at, dialogue.client.answer(at)),
            }
        }
    }

    /// Data came to the client's end of a flow.
    #[inline(never)]
    pub(crate) fn take_responses(&mut self, at: Time, index: usize, flow: &mut Flow) {
        let in_order = flow.receiver.in_order_bytes();
        let Some(dialogue) = &mut flow.dialogue else { return };
        let before = dialogue.log.len();
        while let Some(ended) = dialogue.client.poll_ended(at, in_order) {
            dialogue.log.push(ended);
        }
        if dialogue.log.len() > before {
            self.set_client_alarm(at, index, flow);
        }
    }

    /// Everything that a server has ready by `at`.
    pub(crate) fn serve(&mut self, at: Time, number: usize, flows: &mut [Flow]) {
        while let Some(index) = self.servers[number].poll_response(at) {
            let flow = &mut flows[index];
            if flow.hosted.is_some() {
                self.answer_by_message(at, index, flow);
                continue;
            }
            flow.before_sender(at);
            let bytes = flow.dialogue.as_mut().map_or(0, |dialogue| dialogue.client.answer(at));
            flow.sender.write(at, bytes);
            self.pump_sender(at, index, flow);
            self.run_ahead(index, flow);
        }
        self.network.set_alarm(self.alarms.server(number), self.servers[number].next_wakeup());
    }

    /// As [`Wire::wake_client`], of a flow of hosts.
    pub(crate) fn wake_hosted_client(&mut self, at: Time, index: usize, flow: &mut Flow) {
        self.open_hosts(at, index, flow);
        if let Some(dialogue) = &mut flow.dialogue {
            dialogue.client.handle_wakeup(at);
        }
        while let Some(begin) = flow.dialogue.as_mut().and_then(|open| open.client.poll_begin(at)) {
            let side = Side::Receiver;
            self.host_acts(at, (index, side), flow, |flow| {
                flow.hosted_mut().write_message(at, side, (begin.number, begin.bytes));
            });
        }
        self.set_client_alarm(at, index, flow);
    }

    /// Messages that have come whole to an end of hosts.
    pub(crate) fn take_messages(&mut self, at: Time, (index, side): (usize, Side), flow: &mut Flow) {
        while let Some(number) = flow.hosted_mut().poll_message(at, side) {
            let Some(dialogue) = &mut flow.dialogue else { return };
            match side {
                Side::Sender => {
                    let bytes = dialogue.client.handle_arrived(at, number);
                    match dialogue.server {
                        Some(server) => self.bring_to_server(at, server, index, bytes),
                        None => write_answer(at, flow),
                    }
                }
                Side::Receiver => {
                    dialogue.log.extend(dialogue.client.handle_ended(at, number));
                    self.set_client_alarm(at, index, flow);
                }
            }
        }
    }

    fn bring_to_server(&mut self, at: Time, number: usize, index: usize, bytes: u64) {
        let server: &mut Server = &mut self.servers[number];
        server.handle_request(at, index, bytes);
        self.network.set_alarm(self.alarms.server(number), server.next_wakeup());
    }

    fn answer_by_message(&mut self, at: Time, index: usize, flow: &mut Flow) {
        self.host_acts(at, (index, Side::Sender), flow, |flow| write_answer(at, flow));
    }
}

/// The server's end of a flow of hosts answers the request that came first.
fn write_answer(at: Time, flow: &mut Flow) {
    let answer = flow.dialogue.as_mut().and_then(|dialogue| dialogue.client.answer_arrived(at));
    if let Some(message) = answer {
        flow.hosted_mut().write_message(at, Side::Sender, message);
    }
}
