// /funds: what is it worth, and what did today do?
import { Funds } from "./funds.tsx";
import { Ledger } from "./ledger.tsx";
import { Nav } from "./nav.tsx";
import { Orders, Positions } from "./positions.tsx";
import { Strategies } from "./strategies.tsx";

export function FundsPage() {
  return (
    <div className="panels">
      <Funds />
      <Nav />
      <Strategies />
      <Positions />
      <Orders />
      <Ledger />
    </div>
  );
}
