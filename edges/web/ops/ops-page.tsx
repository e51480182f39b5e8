// /ops: what is broken, and since when? Silence is never green: what was not heard of is not in order.
import { Alarms } from "./alarms.tsx";
import { Audit, Entries } from "./audit.tsx";
import { Books, Drills } from "./books.tsx";
import { Lag, Logs } from "./logs.tsx";
import { Services } from "./services.tsx";
import { SimulatedFaults } from "./simulated-faults.tsx";
import { Tokens } from "./tokens.tsx";
import { Watchdogs } from "./watchdogs.tsx";

export function OpsPage() {
  return (
    <div className="panels">
      <Services />
      <Audit />
      <Alarms />
      <Watchdogs />
      <Books />
      <Lag />
      <Drills />
      <SimulatedFaults />
      <Logs />
      <Entries />
      <Tokens />
    </div>
  );
}
