import { ActionIcon, CopyButton, Tooltip } from '@mantine/core';
import { CheckIcon, CopyIcon } from './icons.tsx';
import classes from './json.module.css';

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
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
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
      )}
    </CopyButton>
  );
}
