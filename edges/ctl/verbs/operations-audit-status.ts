// `ctl operations audit status`: how far the audit chain reaches and who vouches for it.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { closedLine, entries } from "../audit/audit-pages.ts";
import { clean, moment, pairs, span } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsAuditStatus: Verb = {
  name: "operations audit status",
  heading: "Verifying",
  sentence: "Show how far the audit chain reaches and who vouches for it.",
  about:
    "Exit 10 when the log is known to be broken. Other lines that begin with WRONG (nothing is signed, a witness does not answer) leave it at 0.",
  arguments: [],
  options: [],
  examples: [
    { command: "ctl operations audit status", sentence: "Size, checkpoint, who vouches, keys, what is wrong." },
    { command: "ctl operations audit status --json", sentence: "With the newest checkpoint itself." },
  ],
  operation: "GetAuditStatus",
  changesState: false,
  run,
};

async function run(context: Context): Promise<Answer> {
  const status = await (await context.client()).getAuditStatus();
  const exit = status.broken ? exitCodes.verificationFailed : exitCodes.ok;
  return { data: status, text: textOf(status, context), exit };
}

/** What the word means for whoever has to rely on it. */
function trustText({ trust, witnesses, anchors }: Status): string {
  if (witnesses.length > 0) return trust;
  const alone = "whoever runs the platform and its database could write another history and sign it";
  if (anchors.length === 0) return `${trust}: ${alone}`;
  return `${trust}: a history that was cut or rewritten is found by comparing with the anchors, unless whoever did it can write to them as well`;
}

function witnessedText({ witnessed_size: size, checkpoint_size: signed }: Status): string {
  if (size === 0) return "nothing";
  return size < signed
    ? `the first ${entries(size)}, ${entries(signed - size)} behind the checkpoint`
    : `the first ${entries(size)}`;
}

function anchorLines(anchors: Status["anchors"]): readonly (readonly [string, string])[] {
  if (anchors.length === 0) return [["Anchors", "none"]];
  return anchors.map(({ name, size, behind_s: behindS, complaint }) => {
    const isAway = behindS === 0 && complaint !== undefined;
    const late = isAway ? " known" : behindS === 0 ? ", up to date" : `, behind for ${span(behindS * 1_000)}`;
    const why = complaint === undefined ? "" : `. ${clean(complaint)}`;
    return ["Anchor", `${clean(name)}: ${entries(size)}${late}${why}`];
  });
}

function keyLines({ key_terms: terms }: Status): readonly (readonly [string, string])[] {
  return terms.map(({ vkey, from_size: from, to_size: to, revoked }) => {
    const reach = to === undefined ? `signs from size ${from} on` : `signed sizes ${from} to ${to}`;
    return [to === undefined ? "Key" : "Old key", `${clean(vkey)} (${reach}${revoked ? ", revoked" : ""})`];
  });
}

type Status = AnswerOf<"getAuditStatus">;

function textOf(status: Status, { clock }: Context): string {
  const { witnesses, verified, verified_at } = status;
  const verifiedText =
    verified_at === undefined ? "not since this start" : `${moment(verified_at, clock.now())}: ${verified ?? ""}`;
  const open = Math.max(0, status.size - status.checkpoint_size);
  return pairs([
    ["Origin", status.origin],
    ...(status.log === undefined ? [] : [["Log", `${status.log}`] as const]),
    ["Size", entries(status.size)],
    ["Newest hash", status.hash],
    ["Checkpoint", `covers ${entries(status.checkpoint_size)}, ${entries(open)} after it`],
    ["Trust", trustText(status)],
    ["Witnesses", witnesses.length === 0 ? "none" : `${status.witnesses_needed} of ${witnesses.join(", ")}`],
    ...(witnesses.length === 0 ? [] : [["Witnessed", witnessedText(status)] as const]),
    ...anchorLines(status.anchors),
    ...keyLines(status),
    ...(status.closed_logs ?? []).map(closedLine),
    ["Verified", verifiedText],
    ...(status.complaint === undefined ? [] : [["WRONG", clean(status.complaint)] as const]),
    ...status.witness_complaints.map((complaint) => ["WRONG", clean(complaint)] as const),
  ]);
}
