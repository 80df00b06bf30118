import { Button } from '@mantine/core';
import { useCopy } from './use-copy.ts';

export function CopyAsCurl({ command }: { command: string }) {
  const { copied, copy } = useCopy(command);
  return (
    <Button variant="default" onClick={copy}>
      {copied ? 'Copied' : 'Copy as curl'}
    </Button>
  );
}
