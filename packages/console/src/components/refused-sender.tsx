/** Where a request came from that was rejected for its sender: what an allowlist would have to contain. */
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
