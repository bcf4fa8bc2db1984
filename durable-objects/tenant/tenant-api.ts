import type { AuditEntry, AuditHead, AuditRow } from "../../src/tenancy/audit";
import type { QuotaDecision, TurnWish } from "../../src/tenancy/quota";

/** A turn that has ended, as its session tells it. */
export type SettledTurn = { session: string; turn: number; costUsd: number; at: number };

/** `brokenAt`: the first row that does not fit the row before it; null: all do. */
export type AuditPage = { rows: AuditRow[]; hasMore: boolean; brokenAt: number | null };

/** What a tenant's object can be asked. Each call may come again after a lost answer, and then changes nothing more. */
export type TenantApi = {
  /** Whether the turn may start; if so, it has its place and its money until it ends, or its lease does. */
  startTurn(tenant: string, wish: TurnWish): Promise<QuotaDecision>;
  /** A turn that was to start and did not. */
  releaseTurn(session: string, turn: number): Promise<void>;
  endTurn(settled: SettledTurn): Promise<void>;
  audit(entry: AuditEntry): Promise<AuditHead>;
  /** Rows behind the number `after`, oldest first. */
  auditPage(request: { after: number; limit: number }): Promise<AuditPage>;
};
