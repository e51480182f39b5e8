// The PostgreSQL bus under the suite of its port; bus.long.test.ts plants a reader that the suite must catch.
import { busConformance } from "../../../testkit/conformance/bus.ts";
import { postgresBusFixture } from "../../../testkit/postgres-fixture.ts";

busConformance("PostgreSQL", () => postgresBusFixture(), { together: true });
