// What is shown of filings: submission files by day, their lines, and their records. Answered from the rows, of which the files are images.
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  FiledRecord,
  Filing,
  FilingContent,
  FilingList,
  FilingRecordList,
  ListFilingRecordsRequest,
  ListFilingsRequest,
  ReadFilingRequest,
} from "../../../contracts/src/generated/svc/v1/filings.ts";
import { format } from "../../../contracts/src/instant.ts";
import { filingRegime } from "../../../contracts/src/records/filing.ts";
import { regimeOf } from "../../../core/filings/index.ts";
import { filingId, firstNumber, readFilingId } from "../../../core/filings/names.ts";
import type { FilingDay, FilingDaySum, FilingRecord } from "../../../ports/filing-records.ts";
import type { RpcService } from "../../../ports/rpc.ts";
import type { ServicePorts } from "../../shared/service.ts";

const countStandard = 100;
/** One more than a page of HTTP, which tells whether there is another. */
const filingsMax = 1_001;
const recordsMax = 201;
const oneStatement = { isOneStatement: true } as const;

export function filingQueries({ store }: Pick<ServicePorts, "store">): RpcService {
  return {
    name: "Filings",
    handlers: {
      async ListFilings(request: ListFilingsRequest): Promise<FilingList> {
        const { fund_id: fundId, date, after_filing_id: after } = request;
        const query = {
          ...ofRegime(request.regime),
          ...(fundId !== undefined && { fundId }),
          ...(date !== undefined && { date }),
          ...(after !== undefined && { after: dayOf(after) }),
          countMax: countOf(request.count_max, filingsMax),
        };
        const days = await store.transact("filings.look", (unit) => unit.filings.days(query), oneStatement);
        return { filings: days.map(filingMessage) };
      },

      async ReadFiling(request: ReadFilingRequest): Promise<FilingContent> {
        const { filing_id, from_line, quarantined } = request;
        const file = { ...dayOf(filing_id), status: quarantined ? "QUARANTINED" : "WRITTEN" } as const;
        const countMax = countOf(request.count_max, recordsMax);
        const lines = await store.transact(
          "filings.look",
          (unit) => unit.filings.lines(file, from_line, countMax),
          oneStatement,
        );
        if (lines.length === 0) await mustExist(store, filing_id);
        return { filing_id, from_line, lines: [...lines] };
      },

      async ListFilingRecords(request: ListFilingRecordsRequest): Promise<FilingRecordList> {
        if (request.record_id !== undefined) return { records: await one(store, request.record_id, request.fund_id) };
        const { fund_id: fundId, date, order_id: orderId, after_record_id: afterRecordId } = request;
        const query = {
          ...ofRegime(request.regime),
          ...(fundId !== undefined && { fundId }),
          ...(date !== undefined && { date }),
          ...(orderId !== undefined && { orderId }),
          ...statusOf(request.status),
          ...(afterRecordId !== undefined && { afterRecordId }),
          countMax: countOf(request.count_max, recordsMax),
        };
        const records = await store.transact("filings.look", (unit) => unit.filings.list(query), oneStatement);
        return { records: records.map(recordMessage) };
      },
    },
    // A file's name says whose it is.
    fundsOf: { ReadFiling: async ({ filing_id }: ReadFilingRequest) => [dayOf(filing_id).fundId] },
  };
}

async function one(store: ServicePorts["store"], recordId: string, fundId: string | undefined): Promise<FiledRecord[]> {
  const found = await store.transact("filings.look", (unit) => unit.filings.find(recordId), oneStatement);
  return found === undefined || (fundId !== undefined && found.fundId !== fundId) ? [] : [recordMessage(found)];
}

async function mustExist(store: ServicePorts["store"], id: string): Promise<void> {
  const day = dayOf(id);
  const days = await store.transact("filings.look", (unit) => unit.filings.days({ ...day, countMax: 1 }), oneStatement);
  if (days.length === 0) throw noSuchFiling(id);
}

function dayOf(id: string): FilingDay {
  const day = readFilingId(id);
  if (day === undefined) throw noSuchFiling(id);
  return day;
}

function noSuchFiling(id: string): Fault {
  return new Fault("NOT_FOUND", `There is no filing ${JSON.stringify(id.slice(0, 200))}.`, { retry: "never" });
}

function countOf(asked: number, most: number): number {
  return asked === 0 ? countStandard : Math.min(asked, most);
}

function ofRegime(asked: string | undefined): Partial<Pick<FilingDay, "regime">> {
  return asked === undefined ? {} : { regime: filingRegime.parse(asked) };
}

function statusOf(asked: string | undefined): Partial<Pick<FilingRecord, "status">> {
  if (asked === undefined) return {};
  return { status: asked === "QUARANTINED" ? "QUARANTINED" : "WRITTEN" };
}

function filingMessage(of: FilingDaySum): Filing {
  return {
    filing_id: filingId(of.regime, of.fundId, of.date, firstNumber),
    regime: of.regime,
    fund_id: of.fundId,
    mode: of.mode,
    submission_date: of.date,
    state: "OPEN",
    records: of.written,
    quarantined: of.quarantined,
    late: of.late,
    deadline: format(regimeOf(of.regime).deadline(of.firstAt)),
    repair_by: format(regimeOf(of.regime).repairBy(of.firstAt)),
  };
}

function recordMessage(of: FilingRecord): FiledRecord {
  return {
    record_id: of.recordId,
    filing_id: filingId(of.regime, of.fundId, of.date, firstNumber),
    regime: of.regime,
    fund_id: of.fundId,
    submission_date: of.date,
    status: of.status,
    line: of.line,
    type: of.type,
    event_type: of.eventType,
    order_id: of.orderId,
    source: of.source,
    event_at: format(of.eventAt),
    recorded_at: format(of.recordedAt),
    deadline: format(of.deadline),
    late: of.late,
    record: of.text,
    errors: of.mistakes.map(({ code, field = "", sentence }) => ({ code, field, sentence })),
  };
}
