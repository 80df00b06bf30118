/** An entry as JSON, checked by the compiler as it is typed. Whatever the rows cannot show can be written here. */
import { Button, Group, Modal, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Editor } from '../../components/editor.tsx';
import { placeFaults, syntaxFault, type TextFault } from '../../components/text-faults.ts';
import type { Config, Section } from './draft.ts';
import type { Fault } from './rehearse.ts';

export interface EntryJsonProps {
  section: Section;
  disabled: boolean;
  check: (entry: Config) => Fault[];
  onApply: (entry: Config) => void;
  onClose: () => void;
}

export function EntryJson({ section: { title, key, entry }, disabled, check, onApply, onClose }: EntryJsonProps) {
  const [start] = useState(() => JSON.stringify(entry, null, 2));
  const [text, setText] = useState(start);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rest of the draft does not change below the dialog
  const { next, faults } = useMemo(() => read(text, key, check), [text, key]);
  return (
    <Modal
      opened
      onClose={() => (text === start || confirm('Close without applying? What you typed here is lost.')) && onClose()}
      title={`${title} as JSON`}
      size="xl"
    >
      <Editor
        label={`${title} as JSON`}
        language="json"
        value={text}
        onChange={setText}
        minHeight={280}
        readOnly={disabled}
        faults={faults}
      />
      <Group justify="space-between" mt="sm">
        <Text size="sm" c="var(--dim)">
          {faults.length === 0 ? 'It compiles.' : `${faults.length} ${faults.length === 1 ? 'error' : 'errors'}.`}
        </Text>
        <Button
          size="sm"
          disabled={disabled || faults.length > 0 || text === start}
          onClick={() => {
            if (next !== undefined) onApply(next);
            onClose();
          }}
        >
          Apply
        </Button>
      </Group>
    </Modal>
  );
}

function read(text: string, key: string, check: (entry: Config) => Fault[]): { next?: Config; faults: TextFault[] } {
  const broken = syntaxFault(text);
  if (broken !== undefined) return { faults: [broken] };
  const next: unknown = JSON.parse(text);
  if (typeof next !== 'object' || next === null || Array.isArray(next))
    return { faults: [{ at: 0, message: 'An entry must be an object.' }] };
  return { next: next as Config, faults: placeFaults(text, check(next as Config), key) };
}
