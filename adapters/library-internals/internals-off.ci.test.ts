// With the switch off nothing is reached behind a library's interface, and the stores keep their promises all the same: the journal and the audit log
// pass their suites. internals-off.test.ts has one transaction of each, and the server.
import { afterAll } from "vitest";
import { auditFixture } from "../../testkit/audit-fixtures.ts";
import { auditLogConformance } from "../../testkit/conformance/audit-log.ts";
import { riskStoreConformance } from "../../testkit/conformance/risk-store.ts";
import { postgresRiskStoreFixture } from "../../testkit/risk/store-fixtures.ts";
import { internalsOff } from "./library-internals.ts";

const audit = auditFixture(undefined, internalsOff);
auditLogConformance("PostgreSQL without library internals", () => audit.open());
afterAll(() => audit.close());
riskStoreConformance(
  "PostgreSQL without library internals",
  () => postgresRiskStoreFixture({ internals: internalsOff }),
  true,
);
