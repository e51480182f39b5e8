// What a fund was worth, its ledger, and money that somebody puts in or takes out, over HTTP.
import { z } from "zod";
import {
  currencyText,
  dateText,
  decimalText,
  idText,
  lineText,
  symbolText,
} from "../../../contracts/src/records/fields.ts";
import { wholeAsked } from "./asked-numbers.ts";
import { fundIdText } from "./envelope.ts";
import { timeText } from "./fields.ts";
import { reasonBody } from "./orders.ts";
import { afterAsked, countMaxAsked } from "./paging.ts";

export const navsQuery = z.strictObject({
  fund_id: fundIdText,
  from: timeText.optional().meta({ description: "The first moment; 24 hours ago when absent." }),
  to: timeText.optional().meta({ description: "The last moment; now when absent." }),
  every: z
    .enum(["second", "minute", "hour", "day"])
    .optional()
    .meta({ description: "One value per that time, the last one in it; minute when absent." }),
  count_max: wholeAsked(1, 5_000).optional().meta({ description: "At most this many: the newest of the period." }),
});

export const navsAnswer = z
  .array(
    z.object({
      fund_id: idText,
      nav: decimalText.meta({ description: "Exactly cash + positions_value." }),
      cash: decimalText,
      positions_value: decimalText,
      net_flows: decimalText.meta({ description: "Deposits minus withdrawals since the fund began." }),
      currency: currencyText,
      oldest_price_age_ms: z
        .number()
        .min(0)
        .optional()
        .meta({ description: "How old the oldest price in it was; absent when there is none in it." }),
      trading_day: dateText.optional(),
      as_of: timeText,
      prices: z.array(z.object({ symbol: symbolText, quantity: decimalText, price: decimalText, at: timeText })).meta({
        description: "What every position was valued at and when that price was true; empty where it was not kept.",
      }),
    }),
  )
  .meta({ description: "Oldest first." });

export const ledgerQuery = z.strictObject({
  fund_id: fundIdText,
  count_max: countMaxAsked,
  after: afterAsked.meta({ description: "Continue after this entry_id, towards older ones." }),
});

export const ledgerEntryAnswer = z.object({
  entry_id: idText,
  fund_id: idText,
  kind: z.enum(["CAPITAL", "FLOW", "FILL", "BORROW_FEE", "DIVIDEND"]),
  postings: z
    .array(
      z.object({
        account: z.string().meta({ description: "For example cash, capital, fees or position:AAPL." }),
        currency: currencyText,
        amount: decimalText,
      }),
    )
    .meta({ description: "They sum to zero in every currency." }),
  reason: z.string(),
  booked_by: z.string(),
  at: timeText,
});

export const bookedFlowAnswer = ledgerEntryAnswer.extend({
  already_booked: z
    .boolean()
    .meta({ description: "The key was used before, and this was booked then; nothing was booked now." }),
});

const actionKind = z.enum(["CASH_DIVIDEND", "SPLIT", "SYMBOL_CHANGE"]);

export const bookCorporateActionBody = z.strictObject({
  action_id: lineText(200).min(1).meta({ description: "The same one twice is one action." }),
  kind: actionKind,
  symbol: symbolText,
  amount_per_share: decimalText
    .optional()
    .meta({ description: "Of a dividend: in the instrument's currency, above zero." }),
  ex_date: dateText.optional().meta({ description: "Of a dividend: the first day on which a buyer does not get it." }),
  ratio: lineText(20).optional().meta({ description: "Of a split: new shares for old ones, such as 4:1." }),
  new_symbol: symbolText.optional().meta({ description: "Of a change of symbol." }),
  reason: reasonBody,
});

export const corporateActionAnswer = z.object({
  action_id: idText,
  kind: actionKind,
  symbol: symbolText,
  entries: z.array(ledgerEntryAnswer).meta({ description: "Of a dividend: one for each strategy that held it." }),
  already_booked: z.boolean().meta({ description: "It was booked before; nothing was booked now." }),
  state: z.enum(["ANNOUNCED", "APPLIED", "DONE", "ABORTED"]),
  note: lineText(2_000).meta({ description: "Why it was aborted." }),
});

export const rebuildLedgerBody = z.strictObject({
  reason: reasonBody,
  dry_run: z.boolean().optional().meta({ description: "Shows the differences and changes nothing." }),
  step_up_proof: z
    .string()
    .max(500)
    .optional()
    .meta({ description: "A proof of the second factor for RebuildLedger with fund_id and reason." }),
});

export const ledgerRebuildAnswer = z.object({
  fund_id: idText,
  dry_run: z.boolean(),
  entries: z.number().meta({ description: "Entries that were added up." }),
  booked_fills: z.array(idText).meta({ description: "Trades that had no entry; they are booked, or would be." }),
  differences: z
    .array(
      z.object({
        record: z.enum(["BALANCE", "HOLDING", "STRATEGY_HOLDING"]),
        account: z.string().optional(),
        strategy_id: idText.optional(),
        symbol: z.string().meta({ description: "The currency of cash and of balances." }),
        kept: decimalText,
        rebuilt: decimalText,
      }),
    )
    .meta({ description: "What was kept and is not the sum of the entries." }),
  rebuilt_at: timeText,
});

export const ledgerAnswer = z.array(ledgerEntryAnswer).meta({ description: "Newest first." });

export const bookFlowBody = z.strictObject({
  fund_id: fundIdText,
  idempotency_key: lineText(200).min(1).meta({ description: "The same key twice is one flow." }),
  currency: currencyText,
  amount: decimalText.meta({ description: "Negative takes money out." }),
  reason: reasonBody,
});
