// Which funds requests to the audit log are about, for tokens that name theirs.
import type { AppendAuditRequest, AuditTrailRequest } from "../../../../contracts/src/generated/svc/v1/audit.ts";
import type { ReferenceData } from "../../../../ports/reference-data.ts";
import { referenceReader } from "../../../reference/reference-view.ts";

export function auditFunds(referenceData: ReferenceData) {
  const reader = referenceReader(referenceData);
  return {
    /** An entry about a fund, or one of its strategies, stands in what is told of that fund; about what is neither, such as an order, anybody writes under their name. */
    async AppendAudit({ subject_id: subject }: AppendAuditRequest): Promise<readonly string[]> {
      const { funds } = await reader.refresh();
      const owners = [...funds.values()].filter(({ fund_id, strategies }) =>
        [fund_id, ...strategies].includes(subject),
      );
      return owners.map(({ fund_id }) => fund_id);
    },
    /** What is told of anything but a fund may be another fund's. */
    GetAuditTrail: async ({ subject_id: subject }: AuditTrailRequest): Promise<readonly string[]> => [subject],
  };
}
