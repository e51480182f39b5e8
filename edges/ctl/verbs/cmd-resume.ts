// `ctl cmd resume`: lifts one scope's halts; without an argument it lists every halt and asks for all of them to be lifted, which another operator signs.

import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { Client } from "../../client/src/types.ts";
import { fieldLines } from "../../words/field-lines.ts";
import { haltGroups } from "../../words/fields.ts";
import { baselineText, type HaltStatus, haltLine } from "../../words/halt-words.ts";
import { confirmed, confirmOption } from "../confirm.ts";
import { dryRun, dryRunOption, hitLines } from "../danger.ts";
import { isApiError, Refusal, usageRefusal } from "../failure.ts";
import { onlyOne } from "../id-prefix.ts";
import { sixDigits } from "../login/one-time-code.ts";
import { reasonOf, reasonOption } from "../reason.ts";
import { scopeArgument } from "../scope-argument.ts";
import { widthOfTalk } from "../terminal.ts";
import { pendingText } from "../text/halt-text.ts";
import { clean, moment, pairs } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const cmdResume: Verb = {
  name: "cmd resume",
  heading: "Halts",
  sentence: "Lift the halts of a fund or strategy; without one, ask for every halt to be lifted.",
  about:
    "A fund or a strategy needs the word RESUME and a reason. Everything, the firm included, needs your one-time code as well and another operator, who signs with `ctl cmd resume --cosign REQUEST_ID` and a code of their own: until then nothing is lifted (exit 8). A request is void as soon as the halts change. Losses go on being counted from where they were, unless --rebase says otherwise: for a fund or a strategy that takes the role risk_officer too and your one-time code (without it exit 5). A fund's counts the fund anew and none of its strategies; a strategy is counted anew with its own halt.",
  arguments: [{ name: "id", sentence: "A fund or a strategy; every halt when absent.", optional: true }],
  options: [
    { name: "cosign", value: "REQUEST_ID", sentence: "Sign another operator's request to lift every halt." },
    { name: "rebase", sentence: "Count losses from now on, instead of keeping the baseline; needs --totp." },
    { name: "totp", value: "CODE", sentence: "The six digits that your authenticator shows now." },
    dryRunOption,
    confirmOption("RESUME"),
    reasonOption,
  ],
  examples: [
    { command: "ctl cmd resume alpha-momentum --reason fixed", sentence: "One strategy." },
    {
      command: "ctl cmd resume alpha --reason agreed --confirm RESUME --rebase --totp 123456",
      sentence: "A fund, with its losses counted anew, as a risk officer.",
    },
    { command: "ctl cmd resume --reason all-clear --confirm RESUME --totp 123456", sentence: "Ask for all of them." },
    { command: "ctl cmd resume --cosign 5f0c --confirm RESUME --totp 654321", sentence: "Sign it, as somebody else." },
  ],
  operation: "ResumeHalt",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const id = scopeArgument(context);
  const cosign = context.option("cosign");
  if (id !== "" && cosign !== undefined) throw usageRefusal("Name a scope or a request to sign, not both.");
  if (cosign !== undefined && context.switched("rebase")) {
    throw usageRefusal("The baseline is the choice of the request that you sign: leave --rebase out.");
  }
  if (context.switched("dry-run")) return wouldLift(context, id);
  if (cosign !== undefined) return sign(context, cosign);
  return id === "" ? askForAll(context) : lift(context, id);
}

async function lift(context: Context, id: string): Promise<Answer> {
  const client = await context.client();
  const shown = await show(context, client, { id });
  const reason = await why(context);
  const confirmation = await confirmed(context, "RESUME", async () => [
    `This lifts the halts of ${id} itself, none above it.`,
    ...(await hitLines(context, { id })),
  ]);
  const haltIds = haltIdsOf(ownHalts(shown, id));
  // Nobody lifts what was raised after they looked.
  const status = await client.resumeHalt({
    id,
    reason,
    confirmation,
    ...rebased(context),
    ...(haltIds.length > 0 && { haltIds }),
    ...(context.switched("rebase") && (await code(context))),
  });
  return lifted(context, status, shown);
}

/** The halts that it would lift, and what may trade again afterwards. */
async function wouldLift(context: Context, id: string): Promise<Answer> {
  const status = await (await context.client()).getHaltStatus(id === "" ? {} : { id });
  const own = ownHalts(status, id);
  const now = context.clock.now();
  const lifts = own.map((halt) => `  ${haltLine(halt, now)}`);
  const restarts = status.restarts.length === 0 ? "nothing: another halt still covers it" : status.restarts.join(", ");
  const would = [
    own.length === 0 ? "No halt is in force there: there is nothing to lift." : "This would lift:",
    ...lifts,
    `May trade again afterwards: ${clean(restarts)}.`,
  ];
  const more = { lifts: own, restarts: status.restarts };
  return dryRun(context, { would, scope: id === "" ? {} : { id }, rows: [], more });
}

/** Of that very scope; all of them for none. */
function ownHalts(status: HaltStatus, id: string): HaltStatus["halts"] {
  if (id === "") return status.halts;
  const own = status.strategy_id === undefined ? "FUND_HALT" : "STRATEGY_HALT";
  return status.halts.filter(({ severity }) => severity === own);
}

async function askForAll(context: Context): Promise<Answer> {
  const client = await context.client();
  const before = await show(context, client, {});
  if (before.halts.length === 0) {
    throw new Refusal(exitCodes.refused, "HALT_NOT_ACTIVE", "No halt is in force: there is nothing to lift.");
  }
  const reason = await why(context);
  const confirmation = await confirmed(context, "RESUME", async () => [
    "This asks for ALL of these halts to be lifted. Another operator must sign it.",
    ...(await hitLines(context, {})),
  ]);
  const haltIds = haltIdsOf(before.halts);
  const status = await client.resumeHalt({
    reason,
    confirmation,
    haltIds,
    ...rebased(context),
    ...(await code(context)),
  });
  const expires =
    status.expires_at === undefined ? "" : ` It is good until ${moment(status.expires_at, context.clock.now())}.`;
  const requestId = status.request_id ?? "";
  return {
    data: status,
    text: `Nothing is lifted yet: another operator must sign.${expires}\n${pairs([
      ["Request", requestId],
      ["Halts", String(status.halts.length)],
      ["Restarts", status.restarts.join(", ")],
      ["Baseline", baselineText(status.baseline)],
      ["Audit", status.audit_id],
    ])}`,
    exit: exitCodes.pending,
    next: [`Somebody else: ctl cmd resume --cosign ${clean(requestId)} --confirm RESUME --totp CODE`],
  };
}

async function sign(context: Context, typed: string): Promise<Answer> {
  const client = await context.client();
  const waiting = await client.getHaltStatus().catch(() => undefined);
  const requestId = onlyOne(typed, waiting?.request_id === undefined ? [] : [waiting.request_id]);
  const shown = await show(context, client, { requestId });
  const confirmation = await confirmed(context, "RESUME", async () => [
    "With your signature ALL of these halts are lifted.",
    ...(await hitLines(context, {})),
  ]);
  return lifted(
    context,
    await client.resumeHalt({ requestId, confirmation, ...reasonOf(context), ...(await code(context)) }),
    shown,
  );
}

interface Shown {
  readonly id?: string;
  readonly requestId?: string;
}

/** What is about to be lifted, for whoever types the word. */
async function show(context: Context, client: Client, { id, requestId }: Shown): Promise<HaltStatus> {
  const status = await client.getHaltStatus(id === undefined ? {} : { id }).catch(async (thrown: unknown) => {
    // Whoever may not even look may not lift: that refusal is the server's own, and on record.
    if (isApiError(thrown) && [401, 403].includes(thrown.status))
      await client.resumeHalt({ ...(id && { id }), ...(requestId && { requestId }) });
    throw thrown;
  });
  if (context.json) return status;
  const now = context.clock.now();
  const width = widthOfTalk(context.terminal);
  for (const line of fieldLines(haltGroups(status.halts, now), width)) context.terminal.say(line);
  // Whoever signs sees what they sign; another request than the named one is the server's to refuse.
  if (requestId !== undefined && status.request_id === requestId) {
    for (const line of pendingText(status, now, width)) context.terminal.say(line);
  } else if (status.restarts.length > 0) {
    context.terminal.say(`May trade again afterwards: ${status.restarts.map(clean).join(", ")}.`);
  }
  return status;
}

/** Asked for where a person sits; else what is missing is the server's to refuse, and to record. */
async function why(context: Context): Promise<string> {
  const given = context.option("reason")?.trim() ?? "";
  if (given !== "" || !context.terminal.interactive) return given;
  return context.terminal.ask("Why, in your words: ", "--reason TEXT", context.signal);
}

/** The same for the code. */
async function code(context: Context): Promise<{ readonly oneTimeCode?: string }> {
  const given = context.option("totp");
  if (given === undefined && !context.terminal.interactive) return {};
  const shown = given ?? (await context.terminal.ask("Code of your authenticator: ", "--totp CODE", context.signal));
  return { oneTimeCode: sixDigits(shown) };
}

function haltIdsOf(halts: HaltStatus["halts"]): string[] {
  return halts.flatMap(({ halt_id }) => (halt_id === undefined ? [] : [halt_id]));
}

function rebased(context: Context): { readonly rebase?: true } {
  return context.switched("rebase") ? { rebase: true } : {};
}

function lifted(context: Context, status: HaltStatus, before: HaltStatus): Answer {
  const now = context.clock.now();
  const count = status.lifted_halt_ids.length;
  const left = status.halts.map((halt) => `Still in force: ${haltLine(halt, now)}`);
  return {
    data: status,
    text: [
      `${count} ${count === 1 ? "halt is" : "halts are"} lifted (of ${before.halts.length} shown). ${baselineText(status.baseline)}`,
      ...left,
      pairs([
        [
          "Restarts",
          status.restarts.length === 0 ? "nothing: another halt still covers it" : status.restarts.join(", "),
        ],
        ["Audit", status.audit_id],
      ]),
    ].join("\n"),
  };
}
