import { z } from "zod";

/** The service's own keys, their tickets and the audit log, as the API speaks of them. */

export const ScopeSchema = z.enum(["read", "run", "admin"]);

/** Far enough for any key that is meant to end. */
const MOST_DAYS = 3_650;

export const KeyRequestSchema = z
  .strictObject({
    /** For people: whose it is, or where. Lists show it, and so do terminals. */
    name: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .refine(
        (name) => !/\p{Cc}/u.test(name),
        "A name has no line breaks or other control characters",
      ),
    /** Each includes the lesser ones: `admin`, `run`, `read`. */
    scopes: z.array(ScopeSchema).min(1).max(3),
    /** Absent: it ends with the key that makes it, or never. */
    expires_in_days: z.int().min(1).max(MOST_DAYS).optional(),
  })
  .meta({ id: "KeyRequest" });

const seconds = z.number().describe("Unix time in seconds");

export const KeySchema = z
  .object({
    id: z.string(),
    tenant: z.string(),
    name: z.string(),
    scopes: z.array(ScopeSchema),
    created_at: seconds,
    expires_at: seconds.nullable(),
    revoked_at: seconds.nullable(),
    /** To the minute. */
    last_used_at: seconds.nullable(),
  })
  .meta({ id: "Key" });
export type Key = z.infer<typeof KeySchema>;

/** The only time the key itself is shown. */
export const NewKeySchema = KeySchema.extend({ key: z.string() }).meta({ id: "NewKey" });

export const KeyListSchema = z
  .object({
    object: z.literal("list"),
    data: z.array(KeySchema),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  })
  .meta({ id: "KeyList" });

export const TicketSchema = z
  .object({
    /** For `?ticket=` of one of the session's event streams, once. */
    ticket: z.string(),
    expires_at: seconds,
  })
  .meta({ id: "Ticket" });

export const AuditRowSchema = z
  .object({
    seq: z.int(),
    at: z.int().describe("Unix time in milliseconds"),
    key_id: z.string().nullable(),
    action: z.string(),
    from: z.string().nullable(),
    request_id: z.string(),
    result: z.int(),
    /**
     * Of the JSON list [hash before, seq, at, key_id, action, from, request_id, result]: `hmac:` and HMAC-SHA-256 under a key that is
     * derived from the master key; SHA-256 alone where there was none.
     */
    hash: z.string(),
  })
  .meta({ id: "AuditRow" });

export const AuditListSchema = z
  .object({
    object: z.literal("list"),
    data: z.array(AuditRowSchema),
    first_id: z.int().nullable(),
    last_id: z.int().nullable(),
    has_more: z.boolean(),
    broken_at: z
      .int()
      .nullable()
      .describe("The first row of this page that does not fit the row before it; null: all do"),
  })
  .meta({ id: "AuditList" });
