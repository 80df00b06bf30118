/** Origin and address of a request that was rejected for its sender: the entries that an allowlist would need. */
export function RefusedSender({ sender }: { sender: { origin?: string; address?: string } | undefined }) {
  if (sender?.origin === undefined && sender?.address === undefined) return null;
  return (
    <p>
      {sender.origin !== undefined && (
        <>
          Origin: <code>{sender.origin}</code>.{' '}
        </>
      )}
      {sender.address !== undefined && (
        <>
          Address: <code>{sender.address}</code>.
        </>
      )}
    </p>
  );
}
