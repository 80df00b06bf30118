import { TagsInput, type TagsInputProps } from '@mantine/core';
import { useState } from 'react';
import { useEventNames } from '../pages/mapping/completions.ts';

/** Names of events, with those that the pipeline has really seen as suggestions. The list closes once a name is taken. */
export function EventNamesInput({ pipelineId, ...props }: { pipelineId: string | undefined } & Omit<TagsInputProps, 'data'>) {
  const [open, setOpen] = useState(false);
  const names = useEventNames(pipelineId);
  return (
    <TagsInput
      label="Only these events"
      description="Names of events, or @page, @identify, @group. Empty: every event."
      data={names}
      dropdownOpened={open}
      onDropdownOpen={() => setOpen(true)}
      onDropdownClose={() => setOpen(false)}
      // Empty once a name is taken.
      onSearchChange={(typed) => setOpen(typed !== '')}
      {...props}
    />
  );
}
