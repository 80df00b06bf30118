import { notifications } from '@mantine/notifications';
import { useEffect, useState } from 'react';

const SHOWN_FOR_MS = 1_000;

/** Copies a text, and says for a second that it did. */
export function useCopy(text: string): { copied: boolean; copy: () => void } {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_FOR_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () =>
    void write(text).then((written) => {
      setCopied(written);
      if (!written)
        notifications.show({ color: 'red', title: 'Not copied', message: 'The browser did not allow it. Select the text and copy it.' });
    });
  return { copied, copy };
}

/** Browsers offer their clipboard over HTTPS and on localhost only. Elsewhere the text is copied from a field. */
async function write(text: string): Promise<boolean> {
  if (!isSecureContext) return writeFromField(text);
  return navigator.clipboard.writeText(text).then(
    () => true,
    () => false,
  );
}
function writeFromField(text: string): boolean {
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'hidden';
  document.body.append(field);
  field.select();
  const written = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return written;
}
