// The check of `ctl doctor` that somebody is notified: alarms and halts that stand in a log alone wake nobody.
import { failureOf } from "../failure.ts";
import { clean } from "../text/text.ts";
import type { Context } from "../verbs/verb.ts";

interface NotifiedCheck {
  readonly name: "notifications";
  readonly state: "ok" | "warn";
  readonly detail: string;
  readonly advice?: string;
}

const timeoutMs = 5_000;

/** Nothing for callers who may not read it, and of servers that cannot say. */
export async function notifiedCheck(context: Context): Promise<readonly NotifiedCheck[]> {
  const name = "notifications";
  try {
    const { notified_by: by } = await (await context.client()).getHaltStatus({}, { timeoutMs });
    if (by === undefined) return [];
    if (by !== "log") return [{ name, state: "ok", detail: `people are notified by ${clean(by)}` }];
    const detail = "log only: nobody is notified of halts and alarms, they stand in the log";
    const advice = "Set chat.provider and chat.channel_id, and `ctl operations secrets put chat/token`.";
    return [{ name, state: "warn", detail, advice }];
  } catch (error) {
    // Of halts that cannot be read doctor says so in a line of its own.
    await failureOf(error);
    return [];
  }
}
