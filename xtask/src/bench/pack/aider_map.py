"""Prints aider's map of a git repository for a task: TREE TASK_FILE BUDGET.

It is called as aider does for a first message: all tracked files, and the words of the message as
identifiers that were mentioned. Tokens are counted with the vocabulary that litellm brings along, so
that nothing is downloaded.
"""

import os
import re
import subprocess
import sys

import litellm

os.environ["TIKTOKEN_CACHE_DIR"] = os.path.join(
    os.path.dirname(litellm.__file__), "litellm_core_utils", "tokenizers"
)

import tiktoken
from aider.io import InputOutput
from aider.repomap import RepoMap

tree, task, budget = sys.argv[1:]
encoding = tiktoken.get_encoding("cl100k_base")


class Model:
    def token_count(self, text):
        return len(encoding.encode_ordinary(text))


listed = subprocess.run(
    ["git", "-C", tree, "ls-files", "-z"], capture_output=True, check=True, text=True
)
files = [os.path.join(tree, name) for name in listed.stdout.split("\0") if name]
with open(task, encoding="utf-8") as file:
    words = set(re.split(r"\W+", file.read()))

repo_map = RepoMap(
    map_tokens=int(budget),
    root=tree,
    main_model=Model(),
    io=InputOutput(pretty=False, yes=True, fancy_input=False),
    max_context_window=None,
)
print(repo_map.get_repo_map([], files, mentioned_idents=words))
