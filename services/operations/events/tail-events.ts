// Events.TailEvents: pages of what happened, each as soon as there is something after the id that was asked for. Whoever follows asks for what comes
// next, so a caller that does not read is sent nothing.
import { Fault } from "../../../contracts/src/fault.ts";
import { concernsFund, followedSubjects } from "../../../contracts/src/followed-events.ts";
import type { EventPage, TailEventsRequest } from "../../../contracts/src/generated/svc/v1/events.ts";
import { format } from "../../../contracts/src/instant.ts";
import type { EventFeed } from "../../../ports/event-feed.ts";
import type { RpcCall, RpcService } from "../../../ports/rpc.ts";

/** Requests that wait for an event, of all callers. */
export const waitingMax = 64;
/** Then the answer has no events; well below what ends a stream that is not answered. */
const waitMsMax = 10_000;

export function eventQueries(feed: Pick<EventFeed, "newest" | "read">): RpcService {
  let waiting = 0;
  return {
    name: "Events",
    handlers: {
      TailEvents: async (request: TailEventsRequest, call: RpcCall): Promise<EventPage> => {
        if (waiting >= waitingMax) {
          const sentence = `${waitingMax} callers wait for the next event, as many as may: ask again later.`;
          throw new Fault("TOO_MANY_STREAMS", sentence, { retry: "later" });
        }
        waiting += 1;
        try {
          return await pageOf(feed, request, call);
        } finally {
          waiting -= 1;
        }
      },
    },
  };
}

async function pageOf(
  feed: Pick<EventFeed, "newest" | "read">,
  { subjects: asked, fund_id: fundId, after }: TailEventsRequest,
  { identity, signal }: RpcCall,
): Promise<EventPage> {
  const subjects = followedSubjects(asked, identity.roles.includes("admin"));
  const from = after === "" ? await feed.newest() : after;
  const page = await feed.read({ after: from, subjects, waitMs: waitMsMax, signal });
  const wanted =
    fundId === "" ? page.events : page.events.filter(({ subject, payload }) => concernsFund(subject, payload, fundId));
  return {
    events: wanted.map(({ id, subject, at, payload }) => ({
      id,
      subject,
      at: format(at),
      payload_json: JSON.stringify(payload),
    })),
    after: page.after,
    reset: page.reset,
  };
}
