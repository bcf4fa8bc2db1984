import { expect, it } from "vitest";
import { hashTicket, tenantOfTicket, toTicket } from "../../src/tenancy/tickets";

const random = new Uint8Array(32).fill(200);

it("a ticket contains its tenant, and its hash does not contain the secret", () => {
  const { ticket, hash } = toTicket("acme_2", random);
  expect(tenantOfTicket(ticket)).toBe("acme_2");
  expect(hash).toBe(hashTicket(ticket));
  expect(hash).not.toContain(ticket.slice(4, 20));
});

it.each(["", "mgt_", "mgt_short_acme", `${toTicket("acme", random).ticket}/x`, "x".repeat(5_000)])(
  "the text `%s` is not a ticket",
  (text) => {
    expect(tenantOfTicket(text)).toBeNull();
  },
);
