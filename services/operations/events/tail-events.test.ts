// Events over gRPC: what a page holds, whose it is, and how many may wait.
import { expect, it } from "vitest";
import type { EventPage, TailEventsRequest } from "../../../contracts/src/generated/svc/v1/events.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { FeedRequest } from "../../../ports/event-feed.ts";
import type { RpcCall } from "../../../ports/rpc.ts";
import { duty, nowForTests } from "../../../testkit/gateway/parts.ts";
import { exampleNav } from "../../../testkit/record-examples.ts";
import { eventQueries, waitingMax } from "./tail-events.ts";

const nav = (id: string, fund: string) => ({
  id,
  subject: subjects.navUpdated.name,
  at: nowForTests,
  payload: { ...exampleNav, fund_id: fund },
});

function fixture(hold?: Promise<void>) {
  const requests: FeedRequest[] = [];
  const { handlers } = eventQueries({
    newest: async () => "5",
    read: async (request) => {
      requests.push(request);
      await hold;
      return { events: [nav("6", "alpha"), nav("7", "beta")], after: "7", reset: false };
    },
  });
  const tail = (request: Partial<TailEventsRequest>, roles = duty.roles) =>
    handlers["TailEvents"]?.(
      { subjects: [], fund_id: "", after: "", ...request } as never,
      { identity: { ...duty, roles }, signal: new AbortController().signal } as RpcCall,
    ) as Promise<EventPage>;
  return { tail, requests };
}

it("begins now, or after what the caller has, and says where to go on", async () => {
  const { tail, requests } = fixture();
  const page = await tail({});
  expect(page).toMatchObject({ after: "7", reset: false });
  expect(page.events.map(({ id, payload_json }) => [id, JSON.parse(payload_json).fund_id])).toEqual([
    ["6", "alpha"],
    ["7", "beta"],
  ]);
  await tail({ after: "3.1" });
  expect(requests.map(({ after }) => after)).toEqual(["5", "3.1"]);
});

it("leaves other funds out", async () => {
  expect((await fixture().tail({ fund_id: "beta" })).events.map(({ id }) => id)).toEqual(["7"]);
});

it("keeps people's sessions from whoever is no admin", async () => {
  const { tail, requests } = fixture();
  await expect(tail({ subjects: ["svc.v1.identity.>"] }, ["operator"])).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
  });
  await tail({}, ["operator"]);
  expect(requests[0]?.subjects).toContain(`!${subjects.sessionOpened.name}`);
});

it(`lets ${waitingMax} wait, and one more is refused by name`, async () => {
  let release: () => void = () => undefined;
  const { tail } = fixture(new Promise((resolve) => (release = resolve)));
  const waiting = Array.from({ length: waitingMax }, () => tail({ after: "1" }));
  await expect(tail({ after: "1" })).rejects.toMatchObject({ code: "TOO_MANY_STREAMS" });
  release();
  await Promise.all(waiting);
  expect((await tail({ after: "1" })).after).toBe("7");
});
