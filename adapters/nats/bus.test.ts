// The NATS transport keeps every promise of the bus port, on a real nats-server with a real outbox behind it.
import { busConformance } from "../../testkit/conformance/bus.ts";
import { openNatsFixture } from "../../testkit/nats-fixture.ts";

busConformance("nats", openNatsFixture);
