// A fund's ledger as people read it, newest first.
import * as decimal from "../../contracts/src/decimal.ts";
import type {
  Ledger,
  LedgerEntry as LedgerMessage,
  ListLedgerRequest,
} from "../../contracts/src/generated/svc/v1/platform.ts";
import { format } from "../../contracts/src/instant.ts";
import type { LedgerEntry } from "../../contracts/src/records/ledger.ts";
import type { TreasuryQueries } from "../../ports/treasury-queries.ts";
import type { ReferenceReader } from "../reference/reference-view.ts";
import { countOf, invalid, knownFund, ledgerCounts, quoted } from "../reference/treasury-arguments.ts";

const entryIdCharactersMax = 200;

export async function listLedger(
  request: ListLedgerRequest,
  queries: TreasuryQueries,
  reader: ReferenceReader,
): Promise<Ledger> {
  const fund = knownFund(await reader.refresh(), request.fund_id);
  const { after_entry_id: after } = request;
  if (after !== undefined && (after === "" || after.length > entryIdCharactersMax)) {
    throw invalid(`after_entry_id is ${quoted(after)}: give the entry_id of the last entry that you have.`);
  }
  const entries = await queries.ledger({
    fundId: fund.fund_id,
    countMax: countOf(request.count_max, ledgerCounts),
    ...(after !== undefined && { afterEntryId: after }),
  });
  return { entries: entries.map(ledgerMessage) };
}

export function ledgerMessage(entry: LedgerEntry): LedgerMessage {
  return {
    entry_id: entry.entryId,
    fund_id: entry.fundId,
    kind: entry.kind,
    postings: entry.postings.map(({ account, currency, amount }) => ({
      account,
      currency,
      amount: decimal.format(amount),
    })),
    reason: entry.reason,
    booked_by: entry.bookedBy,
    at: format(entry.at),
    already_booked: false,
    ...(entry.symbol !== undefined && { symbol: entry.symbol }),
  };
}
