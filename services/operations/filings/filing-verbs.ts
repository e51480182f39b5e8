// What people do with filings: seal, send, read what the regulator says, and correct. Each needs a reason, which stands in the entry of what it did.
import type { Denial } from "../../../contracts/src/codes.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  CorrectFilingRecordRequest,
  FilingCorrection,
  SealedFilings,
  SealFilingsRequest,
  TakeFilingFeedbackRequest,
  TakenFilingFeedback,
  UploadedFilings,
  UploadFilingsRequest,
} from "../../../contracts/src/generated/svc/v1/filings.ts";
import { correctionAction, filingRegime } from "../../../contracts/src/records/filing.ts";
import type { FilingDay, FilingFile } from "../../../ports/filing-records.ts";
import type { DeniedAnswer, RpcCall, RpcService } from "../../../ports/rpc.ts";
import { givenReason, missingReason } from "../worker-verbs.ts";
import { bringFile, tellQuarantined } from "./bring-file.ts";
import { correctRecord } from "./correct.ts";
import { hearFeedback, type TakenFeedback, takeFeedback } from "./feedback.ts";
import type { FilingParts } from "./filing-parts.ts";
import { filingsOfDay, shownRecords } from "./filing-queries.ts";
import { type Doer, idOf, sealDay } from "./seal.ts";
import { mayGo, uploadDay } from "./upload.ts";

type Answer<Message> = Promise<Message | DeniedAnswer>;

/** `touched` hears of a file that has a line to come. */
export function filingVerbs(parts: FilingParts, touched: (file: FilingFile) => void): RpcService["handlers"] {
  return {
    async SealFilings(request: SealFilingsRequest, call: RpcCall): Answer<SealedFilings> {
      const doer = doerOf(request, call);
      if ("denial" in doer) return doer;
      const day = dayOf(request);
      const sealed = await parts.sealing(() => sealDay(parts, day, { ...doer, signal: call.signal }));
      if ("denial" in sealed) return sealed;
      if (sealed.sealed.length === 0) return denied("FILING_NOTHING_TO_SEAL", nothingOf(day));
      const filings = await filingsOfDay(parts.ports, day);
      const ids = sealed.sealed.map(idOf);
      return { filings: filings.filter(({ filing_id: id }) => ids.includes(id)) };
    },
    async UploadFilings(request: UploadFilingsRequest, call: RpcCall): Answer<UploadedFilings> {
      const doer = doerOf(request, call);
      if ("denial" in doer) return doer;
      const day = dayOf(request);
      const asked = { ...doer, isByHand: request.by_hand, signal: call.signal };
      const uploaded = await parts.sealing(() => uploadDay(parts, day, asked));
      if ("denial" in uploaded) return uploaded;
      const filings = await filingsOfDay(parts.ports, day);
      return { filings: filings.filter(({ state }) => state !== "OPEN") };
    },
    async TakeFilingFeedback(request: TakeFilingFeedbackRequest, call: RpcCall): Answer<TakenFilingFeedback> {
      const doer = doerOf(request, call);
      if ("denial" in doer) return doer;
      const regime = filingRegime.parse(request.regime);
      const { name, content } = request;
      if (name !== undefined && content !== undefined) {
        const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
        const read = await parts.ports.filingWork.readGiven(name, bytes, call.signal);
        return { feedback: [takenMessage(await takeFeedback(parts, regime, read))] };
      }
      if (name !== undefined || content !== undefined) throw wrong("name and content belong together.");
      const settings = parts.ports.settings.filings?.regimes?.[regime];
      const refused = mayGo(settings, { regime, mode: settings?.environment === "production" ? "LIVE" : "PAPER" });
      if (refused !== undefined) return { denial: refused };
      const taken = await hearFeedback(parts, regime, { signal: call.signal });
      return { feedback: taken.map(takenMessage) };
    },
    async CorrectFilingRecord(request: CorrectFilingRecordRequest, call: RpcCall): Answer<FilingCorrection> {
      const doer = doerOf(request, call);
      if ("denial" in doer) return doer;
      const { record_id: recordId, set } = request;
      const action = correctionAction.parse(request.action);
      const made = await correctRecord(parts, { recordId, action, set, by: doer.by, reason: doer.reason });
      if ("denial" in made) return made;
      const { corrected, correction } = made;
      if (correction !== undefined && (await bringFile(parts, correction)) !== "IMAGE") touched(correction);
      parts.alarms.clear("FILING_QUARANTINED", `${corrected.regime} ${corrected.fundId}`);
      await tellQuarantined(parts, corrected);
      const [record, said] = await shownRecords(parts.ports, [
        corrected,
        ...(correction === undefined ? [] : [correction]),
      ]);
      return { ...(record !== undefined && { record }), ...(said !== undefined && { correction: said }) };
    },
  };
}

type Reasoned = Required<Pick<Doer, "by">> & { readonly reason: string };

function doerOf(request: { readonly reason: string }, { identity }: RpcCall): Reasoned | DeniedAnswer {
  const reason = givenReason(request.reason);
  return reason === ""
    ? { denial: missingReason("Filings are sealed, sent and corrected") }
    : { by: identity.actor, reason };
}

function dayOf(request: { readonly regime: string; readonly fund_id: string; readonly date: string }): FilingDay {
  return { regime: filingRegime.parse(request.regime), fundId: request.fund_id, date: request.date };
}

function takenMessage({
  name,
  outcome,
  rejected,
  file,
  problem,
}: TakenFeedback): TakenFilingFeedback["feedback"][number] {
  return { name, outcome, filing_id: file === undefined ? "" : idOf(file), rejected, problem: problem ?? "" };
}

function nothingOf({ fundId, date }: FilingDay): string {
  return `Of ${fundId} nothing of ${date} is waiting to be sealed.`;
}

function denied(code: Denial["code"], reason: string): DeniedAnswer {
  return { denial: { code, reason } };
}

function wrong(what: string): Fault {
  return new Fault("INVALID_ARGUMENT", what, { retry: "never" });
}
