import { ActionIcon, Tooltip } from '@mantine/core';
import { CheckIcon, CopyIcon } from './icons.tsx';
import classes from './json.module.css';
import { useCopy } from './use-copy.ts';

/** A value as indented JSON in monospace, with a copy button. Long texts wrap; nothing is interpreted. */
export function Json({ value, label = 'JSON', maxHeight }: { value: unknown; label?: string; maxHeight?: number }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  return (
    <div className={classes.box}>
      <section
        className={classes.text}
        style={maxHeight === undefined ? undefined : { maxHeight }}
        aria-label={label}
        {...(maxHeight === undefined ? {} : { tabIndex: 0 })}
      >
        <pre>{text}</pre>
      </section>
      <Copy text={text} />
    </div>
  );
}
export function Copy({ text, label = 'Copy', inline = false }: { text: string; label?: string; inline?: boolean }) {
  const { copied, copy } = useCopy(text);
  return (
    <Tooltip label={copied ? 'Copied' : label}>
      <ActionIcon
        className={inline ? undefined : classes.copy}
        variant={inline ? 'subtle' : 'default'}
        color="gray"
        size={inline ? 'xs' : 'sm'}
        onClick={copy}
        aria-label={label}
      >
        {copied ? <CheckIcon /> : <CopyIcon />}
      </ActionIcon>
    </Tooltip>
  );
}
