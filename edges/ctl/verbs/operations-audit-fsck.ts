// `ctl operations audit fsck`: derives chain, tree, tiles and index anew and compares, and writes what is derived when asked to.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { brokenAt, entries, orBrokenChain, verdictLines } from "../audit/audit-pages.ts";
import { watched } from "../audit/audit-runs.ts";
import { Refusal } from "../failure.ts";
import { clean, pairs } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const operationsAuditFsck: Verb = {
  name: "operations audit fsck",
  heading: "Verifying",
  sentence: "Derive chain, tree, tiles and index of the audit log anew and compare.",
  about:
    "Exit 10 when something differs, also when --rebuild has just written it anew: run it again to see that all is well. Entries and checkpoints are never written, only what follows from them: the tiles of the tree and the index. A long log takes minutes; how far it is, is said on stderr.",
  arguments: [],
  options: [{ name: "rebuild", sentence: "Write anew what can be derived from the entries." }],
  examples: [
    { command: "ctl operations audit fsck", sentence: "Only look." },
    {
      command: "ctl operations audit fsck --rebuild",
      sentence: "Write wrong or missing tiles anew, and put the index right.",
    },
  ],
  operation: "BeginAuditInspection",
  changesState: true,
  run,
};

/** The index is derived: a lie of it breaks no chain, and can be put right. */
const indexCode = "INDEX_MISMATCH";

/** Tiles of a broken chain would only make it look like a whole one. */
const nothingWritten: readonly string[] = [
  "ctl operations audit status",
  "Nothing was written. docs/audit.md says what to do with a broken chain.",
];

async function run(context: Context): Promise<Answer> {
  const rebuild = context.switched("rebuild");
  const client = await context.client();
  return orBrokenChain(async () => {
    const { inspection: found } = await watched(context, client, await client.beginAuditInspection({ rebuild }));
    if (found === undefined) throw new Refusal(exitCodes.failed, "INTERNAL", "The server gave no findings.");
    if (found.fault !== undefined && found.fault.code !== indexCode) {
      return { data: found, text: brokenAt(found.fault), exit: exitCodes.verificationFailed, next: nothingWritten };
    }
    const isWell = found.findings.length === 0;
    const lines = [
      `${entries(found.entry_count)} read, ${isWell ? "all as it should be" : `${found.findings.length} findings`}.`,
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
