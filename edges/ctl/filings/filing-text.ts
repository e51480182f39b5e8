// How what was found about a day of filings is told, and which exit code that is.
import { type ExitCode, exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { AnswerOf } from "../../client/src/types.ts";
import { clean } from "../text/text.ts";

type Reconciliation = AnswerOf<"reconcileFilings">;
type Verification = AnswerOf<"verifyFilings">;

export function reconciliationExit(found: Reconciliation): ExitCode {
  const { missing_count: missing, unexpected_count: unexpected, different_count: different } = found;
  return missing + unexpected + different === 0 ? exitCodes.ok : exitCodes.verificationFailed;
}

export function verificationExit({ finding_count: count }: Verification): ExitCode {
  return count === 0 ? exitCodes.ok : exitCodes.verificationFailed;
}

export function reconciliationText(found: Reconciliation): string {
  const { regime, fund_id: fund, date, audited_until: until } = found;
  const repaired = found.repaired > 0 ? [`${found.repaired} recorded now, marked late.`] : [];
  const lines = [
    `${regime} of ${fund} on ${date}, by the audit log up to ${until}:`,
    `${found.recorded} of ${found.expected} expected records are there; ${found.by_call} by call, ${found.quarantined} put aside.`,
    `${found.not_reportable} not reportable, ${found.before_enabled} of orders from before the fund was enabled, ${found.pending} pending.`,
    ...repaired,
    `${found.missing_count} missing, ${found.unexpected_count} unexpected, ${found.different_count} different.`,
    ...found.missing.map((one) => `missing    ${one.event_type} of ${one.order_id} at ${one.event_at}`),
    ...found.unexpected.map((one) => `unexpected ${one.record_id} ${one.type} of ${one.order_id}, by ${one.source}`),
    ...found.different.map((one) => `different  ${one.record_id} ${one.type} of ${one.order_id}`),
  ];
  return lines.map(clean).join("\n");
}

export function verificationText(found: Verification): string {
  const { regime, fund_id: fund, date, audited_until: until } = found;
  const lines = [
    `${regime} of ${fund} on ${date}: ${found.records} records held against the audit log up to ${until}, ${found.pending} pending.`,
    ...found.files.map(({ path, state, bytes }) => `${path}: ${state}, ${bytes} bytes.`),
    found.finding_count === 0 ? "Nothing was changed." : `${found.finding_count} findings:`,
    ...found.findings.map(({ kind, sentence }) => `${kind} ${sentence}`),
  ];
  return lines.map(clean).join("\n");
}
