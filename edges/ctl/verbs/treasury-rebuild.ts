// `ctl treasury rebuild`: the repair of a difference in the books. It shows what it corrects.
import type { AnswerOf } from "../../client/src/types.ts";
import { factorOptions, permittedStepUpProof } from "../login/one-time-code.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const treasuryRebuild: Verb = {
  name: "treasury rebuild",
  heading: "Funds",
  sentence: "Rebuild a paper fund's positions and cash from its trades and entries.",
  about:
    "The repair when `ctl riskengine books` shows a difference in ledger or holdings. Trades without an entry are booked, and what is kept is set to the sum of the entries, which never change themselves. It asks for your second factor, is refused without a reason and while fills of the fund wait (exit 6), and stands in the audit log with the differences. --dry-run shows them and changes nothing.",
  arguments: [],
  options: [
    { name: "fund-id", value: "FUND", required: true, sentence: "Which fund." },
    { name: "dry-run", sentence: "Show the differences only; needs neither reason nor code." },
    reasonOption,
    ...factorOptions,
  ],
  examples: [
    { command: "ctl treasury rebuild --fund-id alpha --dry-run", sentence: "What it would correct." },
    {
      command: "ctl treasury rebuild --fund-id alpha --reason books-differ --totp 123456",
      sentence: "Put it right.",
    },
  ],
  operation: "RebuildLedger",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const client = await context.client();
  if (context.switched("dry-run")) return shown(await client.rebuildLedger({ fundId, dryRun: true }));
  const reason = needsReason(context);
  const named = { action: "RebuildLedger", parameters: { fund_id: fundId, reason } } as const;
  const proof = await permittedStepUpProof(context, client, named, () => client.rebuildLedger({ fundId, reason }));
  return shown(await client.rebuildLedger({ fundId, reason, stepUpProof: proof }));
}

function shown(rebuild: AnswerOf<"rebuildLedger">): Answer {
  const { fund_id: fundId, dry_run: isDry, entries, booked_fills: booked, differences } = rebuild;
  const head =
    differences.length === 0 && booked.length === 0
      ? `${fundId}: everything that is kept is the sum of its ${entries} entries.`
      : `${fundId}: ${isDry ? "would correct" : "corrected"} ${differences.length} of what is kept, by ${entries} entries.`;
  const lines = differences.map(({ record, account, strategy_id: strategy, symbol, kept, rebuilt }) => {
    const what = [record.toLowerCase().replace("_", " "), strategy, account, symbol].filter((one) => one !== undefined);
    return `${what.join(" ")}: ${kept} ${isDry ? "would be" : "is now"} ${rebuilt}`;
  });
  const trades = booked.map((id) => `trade ${id}: ${isDry ? "would be booked" : "booked"}`);
  return { data: rebuild, text: [head, ...trades, ...lines].map(clean).join("\n") };
}
