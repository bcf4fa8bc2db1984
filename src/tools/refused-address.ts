/**
 * Whether the service's address check refused a request, so that no request was sent. Compares the
 * name or code of the error: its class is in a higher layer, and the `fetch` of a tool may wrap the
 * error in a provider failure.
 */
export const isAddressRefused = (error: unknown): boolean =>
  error instanceof Error &&
  (error.name === "AddressRefusedError" || ("code" in error && error.code === "address_refused"));
