/**
 * Frees the memory of these bytes now, if they have it for themselves. They must not be read any more. V8 would free it with a full collection,
 * which large buffers alone bring about only every hundred megabytes.
 */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (byteLength > 0 && buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
