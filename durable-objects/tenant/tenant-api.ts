import type { AuditEntry, AuditHead, AuditRow } from "../../src/tenancy/audit";
import type { QuotaDecision, TurnRequest } from "../../src/tenancy/quota";

/** A turn that has ended, as its session reports it. `at`: unix ms. */
export type SettledTurn = { session: string; turn: number; costUsd: number; at: number };

/**
 * A page of the audit log. `brokenAt`: the number of the first row whose hash does not match the
 * row before it; `null` if all hashes match.
 */
export type AuditPage = { rows: AuditRow[]; hasMore: boolean; brokenAt: number | null };

/**
 * The RPC methods of a tenant's object. Each call is idempotent, so that it can be repeated if its
 * answer was lost.
 */
export type TenantApi = {
  /**
   * Decides whether the turn may start. If it may, its place and budget are reserved until the turn
   * ends or its lease expires.
   */
  startTurn(tenant: string, request: TurnRequest): Promise<QuotaDecision>;
  /** Releases the reservation of a turn that did not start. */
  releaseTurn(session: string, turn: number): Promise<void>;
  /** Charges the cost of a turn that has ended. A repeated call does not charge it again. */
  endTurn(settled: SettledTurn): Promise<void>;
  /** Appends an entry to the audit log; returns the new head. */
  audit(entry: AuditEntry): Promise<AuditHead>;
  /** Rows after the number `after`, oldest first. */
  auditPage(request: { after: number; limit: number }): Promise<AuditPage>;
};
