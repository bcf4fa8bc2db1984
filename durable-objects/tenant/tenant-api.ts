import type { AuditEntry, AuditHead, AuditRow } from "../../src/tenancy/audit";
import type { QuotaDecision, TurnRequest } from "../../src/tenancy/quota";

/** A turn that has ended, as its session reports it. `at`: unix ms. */
export type SettledTurn = { session: string; turn: number; costUsd: number; at: number };

/**
 * `brokenAt`: the number of the first row that does not match the row before it; `null` if all
 * match.
 */
export type AuditPage = { rows: AuditRow[]; hasMore: boolean; brokenAt: number | null };

/**
 * The RPC methods of a tenant's object. Each call is idempotent, so that it can be repeated if its
 * answer was lost.
 */
export type TenantApi = {
  /**
   * Whether the turn may start. If so, its place and budget are reserved until the turn or its
   * lease ends.
   */
  startTurn(tenant: string, request: TurnRequest): Promise<QuotaDecision>;
  /** Releases a turn that did not start. */
  releaseTurn(session: string, turn: number): Promise<void>;
  /** Charges a turn that has ended, once. */
  endTurn(settled: SettledTurn): Promise<void>;
  /** Appends an entry to the audit log; returns the new head. */
  audit(entry: AuditEntry): Promise<AuditHead>;
  /** Rows after the number `after`, oldest first. */
  auditPage(request: { after: number; limit: number }): Promise<AuditPage>;
};
