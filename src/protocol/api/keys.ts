import * as z from "zod";
import { listOf } from "./listing";
import { seconds } from "./time";

/** API keys, tickets and the audit log in requests and responses. */

export const ScopeSchema = z.enum(["read", "run", "admin"]);

/** Maximum lifetime of a key that expires, in days. */
const MAX_LIFETIME_DAYS = 3_650;

export const KeyRequestSchema = z
  .strictObject({
    name: z
      .string()
      .trim()
      .min(1)
      .max(100)
      .refine(
        (name) => !/\p{Cc}/u.test(name),
        "A name has no line breaks or other control characters",
      )
      .describe("Name for people, such as the owner or the place of use. Lists show it"),
    scopes: z
      .array(ScopeSchema)
      .min(1)
      .max(3)
      .describe("Scopes of the key. `admin` includes `run`, and `run` includes `read`"),
    expires_in_days: z
      .int()
      .min(1)
      .max(MAX_LIFETIME_DAYS)
      .optional()
      .describe(
        "Lifetime in days. Omitted: the key expires together with the key that creates it, if that one expires",
      ),
  })
  .meta({ id: "KeyRequest" });

export const KeySchema = z
  .object({
    id: z.string().describe("Id of the key. It is not secret"),
    tenant: z.string().describe("Name of the tenant"),
    name: z.string().describe("Name for people"),
    scopes: z.array(ScopeSchema).describe("Scopes of the key"),
    created_at: seconds.describe("Time of creation in Unix seconds"),
    expires_at: seconds
      .nullable()
      .describe("Time of expiry in Unix seconds; `null` if the key does not expire"),
    revoked_at: seconds
      .nullable()
      .describe("Time of revocation in Unix seconds; `null` if the key is not revoked"),
    last_used_at: seconds
      .nullable()
      .describe("Time of the latest use in Unix seconds, to the minute; `null` if never used"),
  })
  .meta({ id: "Key" });
export type Key = z.infer<typeof KeySchema>;

export const NewKeySchema = KeySchema.extend({
  key: z.string().describe("The key itself. Only this response shows it"),
}).meta({ id: "NewKey" });

export const KeyListSchema = listOf(KeySchema, z.string()).meta({ id: "KeyList" });

export const TicketSchema = z
  .object({
    ticket: z
      .string()
      .describe("Value for `?ticket=` of one event stream of the session. Valid once"),
    expires_at: seconds.describe("Time of expiry in Unix seconds"),
  })
  .meta({ id: "Ticket" });

export const AuditRowSchema = z
  .object({
    seq: z.int().describe("Number of the row, from 1 without gaps"),
    at: z.int().describe("Unix time in milliseconds"),
    key_id: z
      .string()
      .nullable()
      .describe(
        "Id of the key; `null` for local requests without a key, and for actions of the service",
      ),
    action: z.string().describe("Method and path of the request"),
    from: z.string().nullable().describe("IP address of the client; `null` if unknown"),
    request_id: z.string().describe("Id of the request"),
    result: z.int().describe("HTTP status of the response"),
    hash: z
      .string()
      .describe(
        "Hash of the JSON list [previous hash, seq, at, key_id, action, from, request_id, result]: `hmac:` and the HMAC-SHA-256 with a key derived from MASTER_KEY, or the SHA-256 if there was no MASTER_KEY",
      ),
  })
  .meta({ id: "AuditRow" });

export const AuditListSchema = listOf(AuditRowSchema, z.int())
  .extend({
    broken_at: z
      .int()
      .nullable()
      .describe(
        "Number of the first row of this page whose hash does not fit the previous row; `null` if all fit",
      ),
  })
  .meta({ id: "AuditList" });
