// `ctl riskengine envelope set`: changes what was typed and leaves the rest of a fund's limits as they are. It says what loosens and what
// tightens, and sends the current version plus 1, so that two people cannot overwrite each other unseen.

import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { Client } from "../../client/src/types.ts";
import { asArguments, type Proposed } from "../../words/envelope-proposal.ts";
import { envelopeFileOption, filedEnvelope } from "../envelope-file.ts";
import { assertFundExists, currentEnvelope, envelopeOptions, flaggedEnvelope, fundOption } from "../envelope-flags.ts";
import { isApiError, Refusal, usageRefusal } from "../failure.ts";
import { factorOptions, stepUpProof } from "../login/one-time-code.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { type Change, type Compared, changeColumns, comparedOrListed } from "../text/envelope-text.ts";
import { listing, outcomeOptions } from "../text/listing.ts";
import { withPreview } from "../text/preview-text.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const riskengineEnvelopeSet: Verb = {
  name: "riskengine envelope set",
  heading: "Limits",
  sentence: "Change a fund's limits; what is not named stays as it is.",
  about: `Every _pct is a fraction: 0.07 is 7 %. The change is made as the current version plus 1: if somebody was faster it is refused as a conflict
(exit 7). A change that loosens anything, or that moves halt_allow_reduce_only or exit_collar_pct, needs a reason and your
second factor (without it exit 5); any other tightening needs neither. While a halt is in force, a change that loosens anything is refused as a
whole (exit 6) before a code is asked for.

With --file every limit comes from a JSON file with the fields of docs/envelope.md, as \`envelope show --json\` prints them. What is not in it is off
or at its default afterwards; its version, reason, author and hash are not read.`,
  arguments: [],
  options: [
    fundOption,
    envelopeFileOption,
    ...envelopeOptions,
    { name: "dry-run", sentence: "Only show what would change, and what that makes of limits and headroom." },
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
      command: "ctl riskengine envelope set --fund-id alpha --sector-limit technology=0.3 --dry-run",
      sentence: "See it first.",
    },
    {
      command: "ctl riskengine envelope set --fund-id alpha --max-position-pct 0.08 --reason headroom --totp 123456",
      sentence: "Loosen one, from a script.",
    },
    {
      command: "ctl riskengine envelope set --fund-id harbor --file envelope.json --reason first --totp 123456",
      sentence: "All of them, for example a fund's first.",
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
  const limits = (await filedEnvelope(context, fundId, current)) ?? flaggedEnvelope(context, current);
  const proposed = { ...limits, ...reasonOf(context) };
  await warnOfSectors(context, client, current, proposed);
  // A fund's first limits have nothing to be compared with; a dry run tells what they would make of it.
  const compared: Compared =
    current === undefined && !context.switched("dry-run")
      ? { changes: [] as readonly Change[], loosens: null }
      : await comparedOrListed(client, context, fundId, current, proposed);
  const { changes, loosens } = compared;
  const list = { columns: changeColumns, rows: changes, none: "Nothing would change." };
  const unchanged = current !== undefined && changes.length === 0;
  if (context.switched("dry-run") || unchanged) {
    const { preview, preview_missing: missing } = compared;
    const told = { ...(preview && { preview }), ...(missing !== undefined && { preview_missing: missing }) };
    const data = {
      applied: false,
      fund_id: fundId,
      version: current?.version ?? 0,
      changes,
      loosens,
      proposed,
      ...told,
    };
    const lead = unchanged ? {} : { lead: `Version ${proposed.version} of ${fundId}'s limits would change this:` };
    const answer = await listing(context, { ...list, ...lead, data });
    return unchanged ? answer : withPreview(context, answer, preview, missing);
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

/** A limit for a sector that no instrument has limits nothing: the server refuses a new one; one that stands is reported. */
async function warnOfSectors(
  context: Context,
  client: Client,
  current: Awaited<ReturnType<typeof currentEnvelope>>,
  proposed: Proposed,
): Promise<void> {
  const named = Object.keys(proposed.sector_limits_pct);
  if (named.length === 0) return;
  const instruments = await client.listInstruments().catch((thrown: unknown) => {
    // Limits can be tightened without it; the engine, which knows as well, has the last word.
    if (isApiError(thrown)) return undefined;
    throw thrown;
  });
  if (instruments === undefined) return;
  const sectors = [...new Set(instruments.map(({ sector }) => sector ?? ""))].filter((name) => name !== "").sort();
  const nothing = named.filter((name) => !sectors.includes(name));
  const added = nothing.filter((name) => current?.sector_limits_pct[name] === undefined);
  if (added.length > 0 && context.switched("dry-run")) {
    const detail = `No instrument is in the sector ${added.join(", ")}, so a limit for it would limit nothing.`;
    throw usageRefusal(detail, `There are: ${sectors.join(", ")}.`);
  }
  const standing = nothing.filter((name) => !added.includes(name));
  if (standing.length > 0) {
    context.terminal.say(
      clean(`Warning: no instrument is in the sector ${standing.join(", ")}: that limit limits nothing.`),
    );
  }
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
    if (thrown.detail !== undefined) context.terminal.say(clean(thrown.detail));
    const parameters = { fund_id: fundId, ...proposed };
    const proof = await stepUpProof(context, client, { action: "UpdateEnvelope", parameters });
    return client.updateEnvelope({ ...asArguments(fundId, proposed), stepUpProof: proof });
  }
}
