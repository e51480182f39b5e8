// Under which id the audit log has what somebody just did. Most answers do not carry it, so the entry is looked for: by this person, of this action, after the
// place where the log stood before. An act never waits for that: where the log cannot be read, the outcome says so and stands.

import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Acting, Outcome } from "../../words/act.ts";
import { failureOf } from "../model/panel-state.ts";
import type { Typed } from "./ask.ts";

const callMs = 3_000;
const lookEveryMs = 500;
/** After that the outcome says that the entry was not seen yet. */
const looksMax = 30;
const pageMax = 500;

interface AuditedWork {
  /** The action of its entry: "envelope.updated". */
  readonly action: string;
  /** What the server answered; good unless it says otherwise. */
  run(typed: Typed, client: Acting["client"]): Promise<readonly string[] | Pick<Outcome, "lines" | "tone">>;
}

/** For acts whose answer is the outcome. */
export function audited({ action, run }: AuditedWork): (typed: Typed, acting: Acting) => Promise<void> {
  return async (typed, acting) => {
    const { client, report } = acting;
    const before = await client.getAuditStatus({}, { timeoutMs: callMs }).catch(failureOf);
    const answer = await run(typed, client);
    const { lines, tone } = "tone" in answer ? answer : { lines: answer, tone: "good" as const };
    const isKnown = before !== undefined && "size" in before;
    if (isKnown) report({ lines: [...lines, "Audit: its entry is looked for."], tone, done: false });
    const found = isKnown ? await entryAfter(before.size, action, acting) : (before?.detail ?? "it could not be read");
    const last = typeof found === "string" ? `Audit id not known: ${found}` : line(found);
    report({ lines: [...lines, last], tone, done: true });
  };
}

interface Found {
  readonly sequence: number;
  readonly auditId: string;
}

function line({ auditId, sequence }: Found): string {
  return `Audit ${auditId}, entry ${sequence} of the log`;
}

async function entryAfter(size: number, action: string, { client, timers, signal }: Acting): Promise<Found | string> {
  try {
    const { actor } = await client.getIdentity({}, { timeoutMs: callMs });
    let from = size;
    for (let looks = 0; looks < looksMax && !signal.aborted; looks += 1) {
      const { texts } = await client.readAudit({ fromSequence: from, countMax: pageMax }, { timeoutMs: callMs });
      const found = texts.flatMap((text) => foundIn(text, action, actor))[0];
      if (found !== undefined) return found;
      from += texts.length;
      await timers.sleep(lookEveryMs, signal);
    }
    return "the log has no entry of it yet; see the newest entries on /ops";
  } catch (thrown) {
    return failureOf(thrown)?.detail ?? "it could not be read";
  }
}

interface EntryShape {
  readonly action?: unknown;
  readonly actor?: unknown;
  readonly sequence?: unknown;
  readonly data?: { readonly event_id?: unknown } | null;
}

export function foundIn(text: string, action: string, actor: string): readonly Found[] {
  const entry = parseJson(text) as EntryShape;
  const isMeant = entry.action === action && entry.actor === actor;
  const auditId = entry.data?.event_id;
  return isMeant && typeof auditId === "string" ? [{ auditId, sequence: Number(entry.sequence) }] : [];
}
