// The verifier under the suite of its port, with either kind of issuer.
import { verifierConformance } from "../../../testkit/conformance/verifier.ts";
import { embeddedFixture, externalFixture } from "../../../testkit/verifier-fixtures.ts";

verifierConformance("embedded provider", embeddedFixture);
verifierConformance("issuer of somebody else's", externalFixture);
