// `ctl treasury corporate-action book`: a cash dividend, to whoever holds the share when it goes ex, or a split or a change of symbol, which it waits for.
import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import { tryParse } from "../../../contracts/src/decimal.ts";
import { format, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { usageRefusal } from "../failure.ts";
import { needsReason, reasonOption } from "../reason.ts";
import { countOf } from "../text/numbers.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

export const treasuryCorporateActionBook: Verb = {
  name: "treasury corporate-action book",
  heading: "Funds",
  sentence: "Book a cash dividend, a split or a change of symbol to the paper funds.",
  about:
    "Of a dividend, who is long when the share goes ex receives it, and who is short pays it; the paper market's price falls by it at that moment, the beginning of --ex-date or, if that has begun, some seconds after it is booked. A split, or a change of symbol, cancels the open orders of its share, halts the symbol for some seconds, and changes positions, averages, stops and prices together; no value changes by it. The command waits until it is done; one that takes longer goes on (exit 8), one that could not be done is aborted and has changed nothing (exit 6). The same --action-id twice is one action, and tells how far it is. It is refused without a reason.",
  arguments: [],
  options: [
    { name: "kind", value: "KIND", required: true, sentence: "CASH_DIVIDEND, SPLIT or SYMBOL_CHANGE." },
    { name: "symbol", value: "SYMBOL", required: true, sentence: "The share." },
    { name: "amount-per-share", value: "AMOUNT", sentence: "Of a dividend: in the share's currency." },
    { name: "ex-date", value: "DATE", sentence: "Of a dividend: the first day on which a buyer does not get it." },
    { name: "pay-date", value: "DATE", sentence: "Of a dividend: the day on which it is paid; the ex-date if absent." },
    { name: "ratio", value: "NEW:OLD", sentence: "Of a split: new shares for old ones; 1:10 is a reverse split." },
    { name: "new-symbol", value: "SYMBOL", sentence: "Of a change of symbol." },
    { name: "action-id", value: "ID", required: true, sentence: "By which a repetition is known." },
    { name: "wait", value: "SECONDS", sentence: "How long to wait for a split or a change of symbol.", standard: "60" },
    reasonOption,
  ],
  examples: [
    {
      command:
        "ctl treasury corporate-action book --kind CASH_DIVIDEND --symbol AAPL --amount-per-share 0.26 --ex-date 2026-11-16 --action-id aapl-2026-q4 --reason dividend",
      sentence: "26 cents a share.",
    },
    {
      command:
        "ctl treasury corporate-action book --kind SPLIT --symbol NVDA --ratio 4:1 --action-id nvda-split --reason split",
      sentence: "Four new shares for each old one.",
    },
    {
      command:
        "ctl treasury corporate-action book --kind SYMBOL_CHANGE --symbol XOM --new-symbol XON --action-id xom-xon --reason renamed",
      sentence: "Another name for the same share.",
    },
  ],
  operation: "BookCorporateAction",
  changesState: true,
  run,
};

const lookEveryMs = 500;

function run(context: Context): Promise<Answer> {
  const kind = context.option("kind") ?? "";
  if (kind === "CASH_DIVIDEND") return bookDividend(context);
  if (kind === "SPLIT" || kind === "SYMBOL_CHANGE") return bookAction(context, kind);
  throw usageRefusal(`--kind is CASH_DIVIDEND, SPLIT or SYMBOL_CHANGE; "${kind}" is not.`);
}

async function bookDividend(context: Context): Promise<Answer> {
  const amountPerShare = context.option("amount-per-share") ?? "";
  if ((tryParse(amountPerShare) ?? 0n) <= 0n) {
    throw usageRefusal(`--amount-per-share is an amount above zero such as 0.26; "${amountPerShare}" is not.`);
  }
  const exDate = context.option("ex-date") ?? "";
  if (exDate === "") throw usageRefusal("A dividend has an --ex-date such as 2026-11-16.");
  const { symbol, actionId } = named(context);
  const reason = needsReason(context);
  const client = await context.client();
  const payDate = context.option("pay-date") ?? "";
  const terms = { actionId, kind: "CASH_DIVIDEND", symbol, amountPerShare, exDate, reason } as const;
  const waitS = countOf("wait", context.option("wait") ?? "");
  const book = () => client.bookCorporateAction({ ...terms, ...(payDate !== "" && { payDate }) });
  let action = await book();
  const isKnown = action.already_booked && action.state === "DONE";
  const until = context.clock.now() + waitS * 1_000_000;
  // One that lies ahead is not waited for.
  while (action.state === "DECLARED" && exDate <= today(context) && context.clock.now() < until) {
    await context.timers.sleep(lookEveryMs, context.signal);
    action = await book();
  }
  const data = { ...action, already_booked: isKnown };
  const lines = action.entries.map((entry) => `${entry.fund_id}: ${entry.reason}`);
  const text = [dividendHead(action.state, isKnown, lines.length, { symbol, exDate, payDate }), ...lines];
  return {
    data,
    text: text
      .filter((one) => one !== "")
      .map(clean)
      .join("\n"),
  };
}

function dividendHead(
  state: string,
  isKnown: boolean,
  entries: number,
  { symbol, exDate, payDate }: { readonly symbol: string; readonly exDate: string; readonly payDate: string },
): string {
  if (state === "DECLARED") return `Declared: ${symbol} goes ex on ${exDate}.`;
  if (state === "EX")
    return `${symbol} has gone ex: what is due counts in the funds' values and is paid on ${payDate}.`;
  if (entries === 0) return `Nobody held ${symbol} when it went ex; nothing was booked.`;
  return isKnown ? "It was booked before, and not again." : "";
}

/** A day later than anywhere: whether a date may have begun is treasury's to say. */
function today({ clock }: Context): string {
  return format(plusMilliseconds(clock.now(), 86_400_000)).slice(0, 10);
}

async function bookAction(context: Context, kind: "SPLIT" | "SYMBOL_CHANGE"): Promise<Answer> {
  const [ratio, newSymbol] = [context.option("ratio") ?? "", context.option("new-symbol") ?? ""];
  if (kind === "SPLIT" && !/^\d+:\d+$/.test(ratio)) {
    throw usageRefusal(`--ratio is new shares for old ones such as 4:1; "${ratio}" is not.`);
  }
  if (kind === "SYMBOL_CHANGE" && newSymbol === "") throw usageRefusal("A change of symbol has a --new-symbol.");
  const terms = { ...(ratio !== "" && { ratio }), ...(newSymbol !== "" && { newSymbol }) };
  const waitS = countOf("wait", context.option("wait") ?? "");
  const { symbol, actionId } = named(context);
  const reason = needsReason(context);
  const client = await context.client();
  const book = () => client.bookCorporateAction({ actionId, kind, symbol, ...terms, reason });
  let action = await book();
  const isKnown = action.already_booked && action.state === "DONE";
  const until = context.clock.now() + waitS * 1_000_000;
  while (action.state !== "DONE" && action.state !== "ABORTED" && context.clock.now() < until) {
    await context.timers.sleep(lookEveryMs, context.signal);
    action = await book();
  }
  const data = { ...action, already_booked: isKnown };
  if (action.state === "DONE") {
    const text = `${actionId} in ${symbol} is done${isKnown ? "; it was before" : ""}. Place anew what was open in it.`;
    return { data, text: clean(text) };
  }
  if (action.state === "ABORTED") {
    const text = `${actionId} in ${symbol} was aborted, and nothing was changed: ${action.note}. Book it again to try once more.`;
    return { data, text: clean(text), exit: exitCodes.refused };
  }
  return { data, text: clean(`${actionId} in ${symbol} is ${action.state} and goes on.`), exit: exitCodes.pending };
}

function named(context: Context): { readonly symbol: string; readonly actionId: string } {
  return { symbol: context.option("symbol") ?? "", actionId: context.option("action-id") ?? "" };
}
