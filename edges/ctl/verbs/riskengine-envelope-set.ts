// `ctl riskengine envelope set`: changes what was typed and leaves the rest of a fund's limits as they are. It says what loosens and what
// tightens, and sends the current version plus 1, so that two people cannot overwrite each other unseen.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { Client } from "../../client/src/types.ts";
import {
  asArguments,
  assertFundExists,
  currentEnvelope,
  envelopeOptions,
  fundOption,
  type Proposed,
  proposedEnvelope,
} from "../envelope-flags.ts";
import { isApiError, Refusal } from "../failure.ts";
import { factorOptions, stepUpProof } from "../login/one-time-code.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { type Change, changeColumns, comparedOrListed } from "../text/envelope-text.ts";
import { listing, outcomeOptions } from "../text/listing.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineEnvelopeSet: Verb = {
  name: "riskengine envelope set",
  heading: "Limits",
  sentence: "Change a fund's limits; what is not named stays as it is.",
  about: `Every _pct is a fraction: 0.07 is 7 %. The change is made as the current version plus 1: if somebody was faster it is refused as a conflict
(exit 7). A change that loosens anything, or that moves halt_allow_reduce_only or exit_collar_pct, needs a reason and your
second factor (without it exit 5); any other tightening needs neither. While a halt is in force, a change that loosens anything is refused as a
whole (exit 6) before a code is asked for.`,
  arguments: [],
  options: [
    fundOption,
    ...envelopeOptions,
    { name: "dry-run", sentence: "Only show what would change." },
    reasonOption,
    ...factorOptions,
    ...outcomeOptions,
  ],
  examples: [
    {
      command: "ctl riskengine envelope set --fund-id alpha --max-position-pct 0.05 --daily-loss-halt-pct 0.02",
      sentence: "Two limits.",
    },
    {
      command: "ctl riskengine envelope set --fund-id alpha --sector-limit TECH=0.3 --dry-run",
      sentence: "See it first.",
    },
    {
      command: "ctl riskengine envelope set --fund-id alpha --max-position-pct 0.08 --reason headroom --totp 123456",
      sentence: "Loosen one, from a script.",
    },
    {
      command: "ctl riskengine envelope set --fund-id beta --shorting-enabled false --reason squeeze --json",
      sentence: "For a program, with a reason.",
    },
  ],
  operation: "UpdateEnvelope",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const fundId = context.option("fund-id") ?? "";
  const client = await context.client();
  const current = await currentEnvelope(client, fundId);
  if (current === undefined) await assertFundExists(client, fundId);
  const proposed = { ...proposedEnvelope(context, current), ...reasonOf(context) };
  // A fund's first limits have nothing to be compared with.
  const compared =
    current === undefined
      ? { changes: [] as readonly Change[], loosens: null }
      : await comparedOrListed(client, context, fundId, current, proposed);
  const { changes, loosens } = compared;
  const list = { columns: changeColumns, rows: changes, none: "Nothing would change." };
  const unchanged = current !== undefined && changes.length === 0;
  if (context.switched("dry-run") || unchanged) {
    const data = { applied: false, fund_id: fundId, version: current?.version ?? 0, changes, loosens, proposed };
    const lead = unchanged ? {} : { lead: `Version ${proposed.version} of ${fundId}'s limits would change this:` };
    return listing(context, { ...list, ...lead, data });
  }
  const envelope = await update(context, client, fundId, proposed);
  return listing(context, {
    ...list,
    lead: `Version ${envelope.version} of ${fundId}'s limits is in force.`,
    none: "These are its first limits.",
    data: { applied: true, fund_id: fundId, version: envelope.version, changes, loosens, envelope },
    next: [`ctl riskengine envelope show --fund-id ${fundId}`],
  });
}

/** The server says whether a code is needed, so that one is asked for only when nothing else stands in the way. */
async function update(context: Context, client: Client, fundId: string, proposed: Proposed) {
  try {
    return await client.updateEnvelope(asArguments(fundId, proposed));
  } catch (thrown) {
    if (!isApiError(thrown) || thrown.code !== "STEP_UP_REQUIRED") throw thrown;
    const isGiven = context.option("totp") !== undefined || context.option("recovery-code") !== undefined;
    if (!isGiven && !context.terminal.interactive) throw thrown;
    if ((proposed.reason ?? "").trim() === "") {
      const detail = `${thrown.detail ?? thrown.message} No code was used.`;
      throw new Refusal(exitCodes.refused, "REASON_MISSING", detail, "Add --reason TEXT.", thrown);
    }
    if (thrown.detail !== undefined) context.terminal.say(thrown.detail);
    const parameters = { fund_id: fundId, ...proposed };
    const proof = await stepUpProof(context, client, { action: "UpdateEnvelope", parameters });
    return client.updateEnvelope({ ...asArguments(fundId, proposed), stepUpProof: proof });
  }
}
