// `ctl operations audit fsck`: derives chain, tree, tiles and index anew and compares, and writes what is derived when asked to.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { entries, orBrokenChain, verdictLines, wholeLogTimeoutMs } from "../audit-pages.ts";
import type { Context } from "../context.ts";
import { clean, pairs } from "../text.ts";
import type { Answer, Verb } from "./verb.ts";

export const operationsAuditFsck: Verb = {
  name: "operations audit fsck",
  heading: "Verifying",
  sentence: "Derive chain, tree, tiles and index of the audit log anew and compare.",
  about:
    "Exit 10 when something differs, also when --rebuild has just written it anew: run it again to see that all is well. Entries and checkpoints are never written, only what follows from them.",
  arguments: [],
  options: [{ name: "rebuild", sentence: "Write anew what can be derived from the entries." }],
  examples: [
    { command: "ctl operations audit fsck", sentence: "Only look." },
    { command: "ctl operations audit fsck --rebuild", sentence: "Repair tiles and index." },
  ],
  operation: "InspectAudit",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const rebuild = context.switched("rebuild");
  const client = await context.client();
  return orBrokenChain(async () => {
    const found = await client.inspectAudit({ rebuild }, { timeoutMs: wholeLogTimeoutMs });
    const isWell = found.findings.length === 0;
    const lines = [
      `${entries(found.entry_count)} looked at, ${isWell ? "all as it should be" : `${found.findings.length} findings`}.`,
      pairs(verdictLines(found)),
      ...found.findings.map((finding) => `finding  ${clean(finding)}`),
      ...found.rebuilt.map((part) => `rebuilt  ${clean(part)}`),
    ];
    const again = rebuild ? "ctl operations audit fsck" : "ctl operations audit fsck --rebuild";
    return {
      data: found,
      text: lines.join("\n"),
      exit: isWell ? exitCodes.ok : exitCodes.verificationFailed,
      ...(isWell ? {} : { next: [again] }),
    };
  });
}
