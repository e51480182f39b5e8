// The check of `ctl doctor` on events that were put aside.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { failureOf } from "../failure.ts";
import type { Settings } from "../settings.ts";
import { moment } from "../text/text.ts";
import type { Context } from "../verbs/verb.ts";

interface PutAsideCheck {
  readonly name: "events put aside";
  readonly state: "ok" | "warn" | "fail";
  readonly detail: string;
  readonly advice?: string;
}

const timeoutMs = 5_000;

/** Events that wait for a person; nothing for callers who may not read them, or whose trouble the login's own check tells. */
export async function putAside(context: Context, settings: Settings): Promise<readonly PutAsideCheck[]> {
  const name = "events put aside";
  if (settings.token === undefined && settings.stored === undefined) return [];
  try {
    const client = await context.client();
    const { total, events } = await client.listParked({ countMax: 100 }, { timeoutMs: timeoutMs });
    const [first] = events;
    if (first === undefined) return [{ name, state: "ok", detail: "none" }];
    const held = events.filter(({ state }) => state === "HELD").length;
    const consumers = [...new Set(events.map(({ subscription }) => subscription))].join(", ");
    const what = `EVENT_PARKED: ${total}${held > 0 ? ` (${held} of them money that is held)` : ""} of ${consumers}`;
    const detail = `${what}, the first since ${moment(first.since, context.clock.now())}`;
    const advice = "`ctl operations parked list` shows them; `parked retry` and `parked discard` deal with them.";
    return [{ name, state: held > 0 ? "fail" : "warn", detail, advice }];
  } catch (error) {
    const { exit, detail } = await failureOf(error);
    return exit === exitCodes.unavailable ? [{ name, state: "warn", detail: `not known: ${detail}` }] : [];
  }
}
