// The NATS transport keeps the promises of the bus port, on a real nats-server with a real outbox behind it: one check of each group in `npm test`, where
// the default transport passes them all, and all on the second floor.
import { busChecks, busConformance, firstOfEachGroup } from "../../testkit/conformance/bus.ts";
import { byFloor } from "../../testkit/full-count.ts";
import { openNatsFixture } from "../../testkit/nats-fixture.ts";

const checks = byFloor({ first: firstOfEachGroup, later: busChecks });
busConformance("nats", openNatsFixture, { checks, together: true });
