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

// Between double quotes. Jobs are named as job/NAME, all others by their names alone.
std::string choices_of(const CompletionWords& words) {
  std::string text = joined(words.words);
  if (!words.listed_by.empty()) text += (text.empty() ? "" : " ") + ("$(_berth_names " + words.listed_by + ")");
  return text;
}

// What a server says may be anything, and bash takes the words of a completion for its own language: only what names
// may consist of comes through.
std::string names_function(std::string_view listing) {
  return "_berth_names() {\n"
         "  " +
         std::string(listing) +
         " 2>/dev/null |\n"
         "    if [ \"$1\" = jobs ]; then grep -E '^[a-z]+/[A-Za-z0-9._-]+$'\n"
         "    else sed -n -E 's,^[a-z]+/([A-Za-z0-9._-]+)$,\\1,p'; fi\n"
         "}\n";
}

// Sets `choices` by `command` and by the option `before` the word; the same in bash and zsh.
std::string cases_of(const std::vector<CommandWords>& commands) {
  std::string text = "  case \"$command $before\" in\n";
  for (const CommandWords& each : commands) {
    for (const auto& [option, words] : each.values) {
      text += "    '" + each.name + " " + option + "') choices=\"" + choices_of(words) + "\"; return ;;\n";
    }
  }
  text += "  esac\n  case \"$command\" in\n";
  for (const CommandWords& each : commands) {
    const std::string arguments = choices_of(each.arguments);
    text += "    " + each.name + ") choices=\"" + joined(each.options) + (arguments.empty() ? "" : " " + arguments) +
            "\" ;;\n";
  }
  return text + "  esac\n";
}

std::string choices_function(const std::vector<CommandWords>& commands) {
  return "_berth_choices() {\n"
         "  local command=\"$1\" before=\"$2\"\n"
         "  choices=\"\"\n"
         "  if [ -z \"$command\" ]; then\n"
         "    choices=\"" +
         names_of(commands) +
         "\"\n"
         "    return\n"
         "  fi\n" +
         cases_of(commands) + "}\n";
}

// The same server and namespace as on the line: `access` and `place` are options that stand there already.
constexpr std::string_view kListing =
    "if [ \"$1\" = jobs ]; then berth jobs -o name \"${access[@]}\" \"${place[@]}\"; "
    "else berth \"$1\" -o name \"${access[@]}\"; fi";

std::string bash_script(const std::vector<CommandWords>& commands) {
  return "# Completion of berth for bash: source <(berth completion bash)\n" + names_function(kListing) +
         choices_function(commands) +
         "_berth() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" command=\"\" choices i\n"
         "  local access=() place=()\n"
         "  if [ \"$word\" = = ]; then word=\"\"\n"
         "  elif [ \"$before\" = = ]; then before=\"${COMP_WORDS[COMP_CWORD-2]}\"; fi\n"
         "  [ \"$COMP_CWORD\" -gt 1 ] && command=\"${COMP_WORDS[1]}\"\n"
         "  for ((i = 2; i + 1 < COMP_CWORD; i++)); do\n"
         "    case \"${COMP_WORDS[i]}\" in\n"
         "      --kubeconfig | --context) access+=(\"${COMP_WORDS[i]}\" \"${COMP_WORDS[i+1]}\") ;;\n"
         "      -n | --namespace) place=(-n \"${COMP_WORDS[i+1]}\") ;;\n"
         "    esac\n"
         "  done\n"
         "  _berth_choices \"$command\" \"$before\"\n"
         "  COMPREPLY=($(compgen -W \"$choices\" -- \"$word\"))\n"
         "}\n"
         "complete -o default -F _berth berth\n";
}

std::string zsh_script(const std::vector<CommandWords>& commands) {
  return "#compdef berth\n"
         "# Completion of berth for zsh: source <(berth completion zsh)\n" +
         names_function(kListing) + choices_function(commands) +
         "_berth() {\n"
         "  local before=\"${words[CURRENT-1]}\" command=\"\" choices i\n"
         "  local -a access place\n"
         "  [ \"$CURRENT\" -gt 2 ] && command=\"${words[2]}\"\n"
         "  for ((i = 3; i + 1 < CURRENT; i++)); do\n"
         "    case \"${words[i]}\" in\n"
         "      --kubeconfig | --context) access+=(\"${words[i]}\" \"${words[i+1]}\") ;;\n"
         "      -n | --namespace) place=(-n \"${words[i+1]}\") ;;\n"
         "    esac\n"
         "  done\n"
         "  _berth_choices \"$command\" \"$before\"\n"
         "  compadd -- ${=choices}\n"
         "  [ -z \"$command\" ] || _files\n"
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

std::string fish_choices(const CompletionWords& words) {
  std::string text = joined(words.words);
  if (!words.listed_by.empty()) {
    text += "(berth " + words.listed_by + " -o name 2>/dev/null" +
            (words.listed_by == "jobs" ? "" : " | string replace -r \"^[a-z]+/\" \"\"") + ")";
  }
  return " -a '" + text + "'";
}

std::string fish_option(const std::string& option) {
  return option.starts_with("--") ? " -l " + option.substr(2) : " -s " + option.substr(1);
}

std::string fish_script(const std::vector<CommandWords>& commands) {
  std::string text = "# Completion of berth for fish: berth completion fish | source\n";
  for (const CommandWords& each : commands) {
    text += "complete -c berth -n __fish_use_subcommand -f -a " + each.name + " -d " + fish_quoted(each.summary) + "\n";
    const std::string here = "complete -c berth -n '__fish_seen_subcommand_from " + each.name + "'";
    const bool has_arguments = !each.arguments.words.empty() || !each.arguments.listed_by.empty();
    if (has_arguments) text += here + " -f" + fish_choices(each.arguments) + "\n";
    for (const std::string& option : each.options) {
      const auto values = each.values.find(option);
      text +=
          here + fish_option(option) + (values == each.values.end() ? "" : " -x" + fish_choices(values->second)) + "\n";
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
