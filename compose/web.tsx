// The composition of the web desks: the browser's clock and timers handed to edges/web. The bundle `web` begins here.
import { browserTimers } from "../adapters/system/browser-timers.ts";
import { systemClock } from "../adapters/system/clock.ts";
import { startWeb } from "../edges/web/start.tsx";

const root = document.getElementById("root");
if (root !== null) void startWeb(root, { clock: systemClock(), timers: browserTimers() });
