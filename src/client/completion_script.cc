#include "client/completion_script.h"

#include "base/wording.h"

namespace berth {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string names_of(const std::vector<CommandWords>& commands) {
  std::vector<std::string> names;
  for (const CommandWords& each : commands) names.push_back(each.name);
  return joined(names);
}

// Sets `words` by `command`; the same in bash and zsh.
std::string cases_of(const std::vector<CommandWords>& commands) {
  std::string text = "  case \"$command\" in\n";
  for (const CommandWords& each : commands) {
    std::vector<std::string> words = each.children;
    words.insert(words.end(), each.options.begin(), each.options.end());
    text += "    " + each.name + ") words=\"" + joined(words) +
            (each.takes_work ? " $(berth jobs -o name 2>/dev/null)" : "") + "\" ;;\n";
  }
  return text + "  esac\n";
}

std::string bash_script(const std::vector<CommandWords>& commands) {
  return "# Completion of berth for bash: source <(berth completion bash)\n"
         "_berth() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\" command=\"${COMP_WORDS[1]}\" words=\"\"\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         names_of(commands) +
         "\" -- \"$word\"))\n"
         "    return\n"
         "  fi\n" +
         cases_of(commands) +
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -o default -F _berth berth\n";
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  return "#compdef berth\n"
         "# Completion of berth for zsh: source <(berth completion zsh)\n"
         "_berth() {\n"
         "  local command=\"${words[2]}\" at=$CURRENT\n"
         "  local words=\"\"\n"
         "  if [ \"$at\" -eq 2 ]; then\n"
         "    compadd -- " +
         names_of(commands) +
         "\n"
         "    return\n"
         "  fi\n" +
         cases_of(commands) +
         "  compadd -- ${=words}\n"
         "  _files\n"
         "}\n"
         "compdef _berth berth\n";
}

// In single quotes, for fish.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string text = "# Completion of berth for fish: berth completion fish | source\n";
  for (const CommandWords& each : commands) {
    text += "complete -c berth -n __fish_use_subcommand -f -a " + each.name + " -d " + fish_quoted(each.summary) + "\n";
    const std::string here = "complete -c berth -n '__fish_seen_subcommand_from " + each.name + "' ";
    if (!each.children.empty()) text += here + "-f -a '" + joined(each.children) + "'\n";
    if (each.takes_work) text += here + "-f -a '(berth jobs -o name 2>/dev/null)'\n";
    for (const std::string& option : each.options) {
      text += here + (option.starts_with("--") ? "-l " + option.substr(2) : "-s " + option.substr(1)) + "\n";
    }
  }
  return text;
}

}  // namespace

Result<std::string> completion_script(std::string_view shell, const std::vector<CommandWords>& commands) {
  if (shell == "bash") return bash_script(commands);
  if (shell == "zsh") return zsh_script(commands);
  if (shell == "fish") return fish_script(commands);
  return Complaints(quote(shell) + " is no shell that is known here; write bash, zsh or fish");
}

}  // namespace berth
