// The roads between services, and to the broker: questions are late, get lost, arrive twice, or are acted on without the asker ever hearing of it.
// What is never lost is what was written down; that is the point of the whole.

import type { AskPeer } from "../adapters/peers/peers.ts";
import { Fault } from "../contracts/src/fault.ts";
import type { Broker, BrokerAction } from "../ports/broker.ts";
import type { Timers } from "../ports/timers.ts";
import type { Weather } from "./weather.ts";

type Road = Pick<Weather, "question" | "roadMs">;

/** How long who asks waits before it believes that nobody answers; shorter than any real one, so that a run sees more of it. */
export const patienceMs = 600;

async function travel<Answer>(road: Road, timers: Timers, ask: () => Promise<Answer>, silence: () => Fault) {
  const fate = road.question();
  const pause = (ms: number): Promise<void> => (ms > 0 ? timers.sleep(ms) : Promise.resolve());
  await pause(road.roadMs());
  if (fate === "lost") {
    await timers.sleep(patienceMs);
    throw silence();
  }
  const asking = ask();
  // The second one arrives right behind the first; nobody waits for what it is told.
  if (fate === "doubled")
    void pause(road.roadMs())
      .then(ask)
      .catch(() => undefined);
  const answer = await asking;
  if (fate === "answer lost") {
    await timers.sleep(patienceMs);
    throw silence();
  }
  await pause(road.roadMs());
  return answer;
}

export function lossyAsk(ask: AskPeer, road: Road, timers: Timers): AskPeer {
  return (service, method, request) =>
    travel(
      road,
      timers,
      () => ask(service, method, request),
      () => new Fault("DEADLINE_EXCEEDED", `${service} did not answer ${method}.`, { retry: "later" }),
    );
}

/** A broker at the end of such a road. Its reports are numbered, so what is lost of them is found by reading again. */
export function lossyBroker<Kind extends Broker>(broker: Kind, road: Road, timers: Timers): Kind {
  const overRoad = <Answer>(ask: () => Promise<Answer>): Promise<Answer> =>
    travel(road, timers, ask, () => new Fault("BROKER_UNAVAILABLE", "The broker says nothing.", { retry: "later" }));
  return {
    ...broker,
    submit: (order) => overRoad(() => broker.submit(order)),
    cancel: (id) => overRoad(() => broker.cancel(id)),
    amend: (id, amendment) => overRoad(() => broker.amend(id, amendment)),
    order: (id) => overRoad(() => broker.order(id)),
    openOrders: (account) => overRoad(() => broker.openOrders(account)),
    positions: (account) => overRoad(() => broker.positions(account)),
    reports: (after, countMax) => overRoad(() => broker.reports(after, countMax)),
    ...(broker.applyAction !== undefined && {
      applyAction: (action: BrokerAction) => overRoad(async () => broker.applyAction?.(action)),
    }),
  };
}
