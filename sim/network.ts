// The network links between services, and to the broker: questions are late, get lost, arrive twice, or are acted on without the asker ever hearing of it.
// What is never lost is what was written down; that is the point of the whole.

import type { AskPeer } from "../adapters/peers/peers.ts";
import { Fault } from "../contracts/src/fault.ts";
import type { Broker, BrokerAction } from "../ports/broker.ts";
import type { Timers } from "../ports/timers.ts";
import type { Faults } from "./faults.ts";

type Network = Pick<Faults, "question" | "networkMs">;

/** How long who asks waits before it believes that nobody answers; shorter than any real one, so that a run sees more of it. */
export const patienceMs = 600;

async function travel<Answer>(network: Network, timers: Timers, ask: () => Promise<Answer>, silence: () => Fault) {
  const fate = network.question();
  const pause = (ms: number): Promise<void> => (ms > 0 ? timers.sleep(ms) : Promise.resolve());
  await pause(network.networkMs());
  if (fate === "lost") {
    await timers.sleep(patienceMs);
    throw silence();
  }
  const asking = ask();
  // The second one arrives right behind the first; no caller waits for what it is told.
  if (fate === "doubled")
    void pause(network.networkMs())
      .then(ask)
      .catch(() => undefined);
  const answer = await asking;
  if (fate === "answer lost") {
    await timers.sleep(patienceMs);
    throw silence();
  }
  await pause(network.networkMs());
  return answer;
}

export function lossyAsk(ask: AskPeer, network: Network, timers: Timers): AskPeer {
  return (service, method, request) =>
    travel(
      network,
      timers,
      () => ask(service, method, request),
      () => new Fault("DEADLINE_EXCEEDED", `${service} did not answer ${method}.`, { retry: "later" }),
    );
}

/** A broker at the end of such a network link. Its reports are numbered, so what is lost of them is found by reading again. */
export function lossyBroker<Kind extends Broker>(broker: Kind, network: Network, timers: Timers): Kind {
  const overNetwork = <Answer>(ask: () => Promise<Answer>): Promise<Answer> =>
    travel(network, timers, ask, () => new Fault("BROKER_UNAVAILABLE", "The broker says nothing.", { retry: "later" }));
  return {
    ...broker,
    submit: (order) => overNetwork(() => broker.submit(order)),
    cancel: (id) => overNetwork(() => broker.cancel(id)),
    amend: (id, amendment) => overNetwork(() => broker.amend(id, amendment)),
    order: (id) => overNetwork(() => broker.order(id)),
    openOrders: (account) => overNetwork(() => broker.openOrders(account)),
    positions: (account) => overNetwork(() => broker.positions(account)),
    reports: (after, countMax) => overNetwork(() => broker.reports(after, countMax)),
    ...(broker.applyAction !== undefined && {
      applyAction: (action: BrokerAction) => overNetwork(async () => broker.applyAction?.(action)),
    }),
  };
}
