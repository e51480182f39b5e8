// The desks that have panels: what every desk promises is tried on each of these.
import { desks as listed } from "../../edges/web/desk-list.ts";

export const desks = listed.filter(({ panels }) => panels.length > 0).map(({ name }) => name);
