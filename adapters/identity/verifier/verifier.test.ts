// The verifier under the suite of its port, with either kind of issuer.
import { verifierConformance } from "../../../testkit/conformance/verifier.ts";
import { embeddedRig, externalRig } from "../../../testkit/verifier-rigs.ts";

verifierConformance("embedded provider", embeddedRig);
verifierConformance("issuer of somebody else's", externalRig);
