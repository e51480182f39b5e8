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
import { readFilingId } from "../../../core/filings/names.ts";
import { type FilingState, filingStateOf, recordStateOf } from "../../../core/filings/standing.ts";
import type { FilingDay, FilingDayQuery, FilingDaySum, FilingRecord } from "../../../ports/filing-records.ts";
import type {
  FilingCorrection,
  FilingKey,
  FilingRejection,
  FilingStanding,
} from "../../../ports/filing-submissions.ts";
import type { RpcService } from "../../../ports/rpc.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { idOf } from "./seal.ts";

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
        return { filings: await shownFilings({ store }, query) };
      },

      async ReadFiling(request: ReadFilingRequest): Promise<FilingContent> {
        const { filing_id, from_line, quarantined } = request;
        const file = dayOf(filing_id);
        const countMax = countOf(request.count_max, recordsMax);
        const aside = { ...file, status: "QUARANTINED" } as const;
        const lines = await store.transact(
          "filings.look",
          (unit) =>
            quarantined
              ? unit.filings.lines(aside, from_line, countMax)
              : unit.filings.linesOfNumber(file, from_line, countMax),
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
        return { records: [...(await shownRecords({ store }, records))] };
      },
    },
    // A file's name says whose it is.
    fundsOf: { ReadFiling: async ({ filing_id }: ReadFilingRequest) => [dayOf(filing_id).fundId] },
  };
}

async function one(store: ServicePorts["store"], recordId: string, fundId: string | undefined): Promise<FiledRecord[]> {
  const found = await store.transact("filings.look", (unit) => unit.filings.find(recordId), oneStatement);
  return found === undefined || (fundId !== undefined && found.fundId !== fundId)
    ? []
    : [...(await shownRecords({ store }, [found]))];
}

async function mustExist(store: ServicePorts["store"], id: string): Promise<void> {
  const day = dayOf(id);
  const { regime, fundId, date } = day;
  const query = { regime, fundId, date, countMax: filingsMax };
  const days = await store.transact("filings.look", (unit) => unit.filings.days(query), oneStatement);
  if (!days.some(({ number }) => number === day.number)) throw noSuchFiling(id);
}

function dayOf(id: string): FilingKey {
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

/** The submission files of a day. */
export function filingsOfDay(
  { store }: Pick<ServicePorts, "store">,
  { regime, fundId, date }: FilingDay,
): Promise<Filing[]> {
  return shownFilings({ store }, { regime, fundId, date, countMax: filingsMax });
}

async function shownFilings({ store }: Pick<ServicePorts, "store">, query: FilingDayQuery): Promise<Filing[]> {
  return store.transact("filings.look", async (unit) => {
    const sums = await unit.filings.days(query);
    const [first, last] = [sums[0], sums.at(-1)];
    const standings =
      first === undefined || last === undefined ? [] : await unit.filingSubmissions.between(first, last);
    const byId = new Map(standings.map((standing) => [idOf(standing.file), standing]));
    return sums.map((sum) => filingMessage(sum, byId.get(idOf(sum))));
  });
}

function filingMessage(of: FilingDaySum, standing: FilingStanding | undefined): Filing {
  const { name = "", bytes = 0, sha256 = "" } = standing?.file ?? {};
  return {
    filing_id: idOf(of),
    regime: of.regime,
    fund_id: of.fundId,
    mode: of.mode,
    submission_date: of.date,
    state: stateOf(standing),
    records: of.written,
    quarantined: of.quarantined,
    late: of.late,
    deadline: format(regimeOf(of.regime).deadline(of.firstAt)),
    repair_by: format(regimeOf(of.regime).repairBy(of.firstAt)),
    rejected: standing?.rejected ?? 0,
    name,
    bytes,
    sha256,
  };
}

function stateOf(standing: FilingStanding | undefined): FilingState {
  if (standing === undefined) return "OPEN";
  return filingStateOf({ isSent: standing.sending !== undefined, feedback: standing.feedback });
}

/** Records with what became of them. */
export async function shownRecords(
  { store }: Pick<ServicePorts, "store">,
  records: readonly FilingRecord[],
): Promise<readonly FiledRecord[]> {
  if (records.length === 0) return [];
  const ids = records.map(({ recordId }) => recordId);
  return store.transact("filings.look", async (unit) => {
    const corrections = new Map((await unit.filingSubmissions.corrections(ids)).map((one) => [one.recordId, one]));
    const rejections = await unit.filingSubmissions.rejections(ids);
    const states = new Map<string, FilingState>();
    for (const record of records) {
      const id = idOf(record);
      if (states.has(id)) continue;
      const [standing] = await unit.filingSubmissions.between(record, record);
      states.set(id, stateOf(standing));
    }
    return records.map((record) => {
      const own = rejections.filter(({ recordId }) => recordId === record.recordId);
      return recordMessage(record, {
        file: states.get(idOf(record)) ?? "OPEN",
        rejections: own,
        correction: corrections.get(record.recordId),
      });
    });
  });
}

interface Became {
  readonly file: FilingState;
  readonly rejections: readonly FilingRejection[];
  readonly correction: FilingCorrection | undefined;
}

function recordMessage(of: FilingRecord, { file, rejections, correction }: Became): FiledRecord {
  const judged = correction && { action: correction.action, hasRecord: correction.correctionId !== undefined };
  const isRejected = rejections.length > 0;
  const rejected = rejections.flatMap(({ codes, feedback }) =>
    codes.map((code) => ({ code, field: "", sentence: `The regulator rejected it (${feedback}).` })),
  );
  return {
    record_id: of.recordId,
    filing_id: idOf(of),
    regime: of.regime,
    fund_id: of.fundId,
    submission_date: of.date,
    status: recordStateOf({ status: of.status, file, isRejected, correction: judged }),
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
    errors: [...of.mistakes.map(({ code, field = "", sentence }) => ({ code, field, sentence })), ...rejected],
    corrected_by: correction?.correctionId ?? "",
  };
}
